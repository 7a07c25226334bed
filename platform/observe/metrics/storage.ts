/** Measures calls to a storage. */
import { isKind } from '../../../operations/errors.js';
import { openStorage, type Storage, type StorageChoice } from '../../storage/index.js';
import { areMetricsOn, count, observe } from './index.js';

/** Calls that return a promise. Calls that return an iterator count as failed when reading it fails. */
const CALLS = [
  ...(['put', 'create', 'putFile', 'read', 'stream', 'size', 'about'] as const),
  ...(['remove', 'removeAll', 'probe'] as const),
] as const satisfies (keyof Storage)[];
const LISTS = ['list', 'keys'] as const satisfies (keyof Storage)[];

/** Opens a storage, measured if the process keeps metrics. */
export function openMeasuredStorage(settings: StorageChoice): Storage {
  const storage = openStorage(settings);
  return areMetricsOn() ? withMetrics(storage) : storage;
}

/** Adds counts of errors and times of calls to a storage. A missing value isn't an error. */
function withMetrics(storage: Storage): Storage {
  for (const operation of [...CALLS, ...LISTS]) count('longhaul_storage_errors_total', { operation }, 0);
  const failed = (operation: string, error: unknown) => {
    if (!isKind(error, 'not_found')) count('longhaul_storage_errors_total', { operation });
  };
  const measured: Partial<Record<keyof Storage, unknown>> = {};
  for (const operation of CALLS)
    measured[operation] = async (...args: unknown[]) => {
      const startedMs = performance.now();
      try {
        return await (storage[operation] as (...all: unknown[]) => Promise<unknown>)(...args);
      } catch (error) {
        failed(operation, error);
        throw error;
      } finally {
        const seconds = (performance.now() - startedMs) / 1_000;
        observe('longhaul_storage_request_duration_seconds', { operation }, seconds);
      }
    };
  for (const operation of LISTS)
    measured[operation] = async function* (prefix?: string) {
      try {
        yield* storage[operation](prefix);
      } catch (error) {
        failed(operation, error);
        throw error;
      }
    };
  // The proxy passes on members added to the interface later.
  return new Proxy(storage, {
    get: (target, name) => measured[name as keyof Storage] ?? (Reflect.get(target, name) as unknown),
  });
}

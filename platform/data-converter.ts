/**
 * The data converter: values are JSON, which Temporal's UI shows; a value over 256 KiB is offloaded to storage and leaves a
 * claim in history. A value over 2 MiB that reached Temporal would end the run and lose its record. Uses the SDK's external
 * storage instead of a codec, so that it runs outside of the sandbox, once per task.
 */
import { createHash } from 'node:crypto';
import {
  ExternalStorage,
  StorageDriverClaim,
  type DataConverter,
  type Payload,
  type StorageDriver,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { payloadKey } from './storage-keys.js';
import type { Storage } from './storage.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Size from which a value is offloaded, in bytes: 256 KiB. */
const OFFLOAD_BYTES = 256 * 1024;

/** The data converter that clients and workers share. */
export function dataConverterOf(storage: Storage): DataConverter {
  return {
    externalStorage: new ExternalStorage({
      drivers: [storageDriver(storage)],
      payloadSizeThreshold: OFFLOAD_BYTES,
    }),
  };
}

/** Age up to which a stored value isn't rewritten, in milliseconds: a sweep must not treat it as abandoned. */
const FRESH_MS = 24 * 3600_000;

/** Keys are made of workflow ID and hash, so that a replay or a retry stores nothing new. */
function storageDriver(storage: Storage): StorageDriver {
  return {
    name: 'longhaul',
    type: 'longhaul.storage',
    store: ({ target }, payloads) =>
      Promise.all(
        payloads.map(async (payload) => {
          const bytes = PayloadMessage.encode(payload).finish();
          const key = payloadKey(
            target?.kind === 'workflow' ? target.id : undefined,
            createHash('sha256').update(bytes).digest('hex'),
          );
          const stored = await storage.about(key);
          if (!stored || Date.now() - stored.changedAt.getTime() > FRESH_MS) await storage.put(key, bytes);
          return new StorageDriverClaim({ key });
        }),
      ),
    retrieve: (_context, claims) =>
      Promise.all(
        claims.map(async ({ claimData }): Promise<Payload> =>
          PayloadMessage.decode(await readStored(storage, claimData['key'] ?? '')),
        ),
      ),
  };
}

/** A value missing from storage makes its operation unreadable (`internal`), not unknown (`not_found`). */
async function readStored(storage: Storage, key: string): Promise<Buffer> {
  try {
    return await storage.read(key);
  } catch (error) {
    if (!(error instanceof LonghaulError && error.kind === 'not_found')) throw error;
    throw new LonghaulError('internal', `a large value of it is lost: ${error.message}`, { cause: error });
  }
}

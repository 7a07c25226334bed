/** Plans of sweeps: what to remove, and why. Workers remove each item as it is found; `longhaul gc --dry-run` shows it. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { isTemporaryPath } from '../home/atomic-files.js';
import { contentSize } from '../home/disk.js';
import { CALL_LIMIT_MS } from '../temporal/find-workflow.js';
import type { Storage } from './index.js';

/** Keys of the namespaces that use a storage, by namespace ID: what one doesn't know may belong to another. */
const NAMESPACES_PREFIX = 'namespaces/';

/** A temporary file counts as abandoned after a day without a write. */
export const ABANDONED_AFTER_MS = 24 * 3600_000;

/**
 * - `deletion`: an operation's interrupted deletion
 * - `values`: artifacts, logs and large values of an operation that Temporal doesn't know
 * - `mailbox`: text of an expired message
 * - `workspace`: folder of an operation's steps, with their journals and spools
 * - `temporary`: unfinished file of a killed process
 */
export type SweptKind = 'deletion' | 'values' | 'mailbox' | 'workspace' | 'temporary';

export interface SweepItem {
  kind: SweptKind;
  /** Workflow ID, key or path. */
  name: string;
  reason: string;
  /** Keys in storage, or paths. */
  keys: string[];
  /** Size of what is removed. */
  bytes: () => Promise<number>;
  remove: () => Promise<void>;
}

/** An item whose keys are values in storage. */
export function storedItem(
  storage: Storage,
  { keys, ...about }: Pick<SweepItem, 'kind' | 'name' | 'reason' | 'keys'>,
): SweepItem {
  return {
    ...about,
    keys,
    async bytes() {
      let sum = 0;
      for (const key of keys) sum += (await storage.size(key)) ?? 0;
      return sum;
    },
    async remove() {
      await storage.removeAll(keys);
    },
  };
}

/** An item that is a file or a folder of the home. @param name default: its path */
export function fileItem(
  kind: SweptKind,
  path: string,
  reason: string,
  name = path,
): Omit<SweepItem, 'remove'> {
  return { kind, name, reason, keys: [path], bytes: async () => (await contentSize(path)).bytes };
}

/** Removes every item of a plan as it is found. @returns their kinds */
export async function sweep(plan: AsyncIterable<SweepItem>): Promise<SweptKind[]> {
  const kinds: SweptKind[] = [];
  for await (const item of plan) {
    await item.remove();
    kinds.push(item.kind);
  }
  return kinds;
}

/**
 * Plans the sweep of temporary files that killed processes left. Skips workspaces, where steps have files of any name: each
 * workspace is removed as a whole.
 */
export async function* planTemporarySweep(home: string, now = Date.now()): AsyncGenerator<SweepItem> {
  // Loaded on demand, which makes workers start faster.
  const { glob } = await import('tinyglobby');
  const paths = await glob('**/*.tmp', {
    cwd: home,
    // A killed backup leaves a folder, and so does a call of analyze_dataset.
    onlyFiles: false,
    expandDirectories: false,
    dot: true,
    ignore: ['workspaces/**'],
    followSymbolicLinks: false,
  });
  // Folders end with a slash.
  const found = paths.map((path) => path.replace(/\/$/, '')).filter(isTemporaryPath);
  for (const path of found.map((each) => join(home, each))) {
    const file = await stat(path).catch(() => undefined);
    if (!file || now - file.mtimeMs <= ABANDONED_AFTER_MS) continue;
    yield {
      ...fileItem('temporary', path, 'a process that was killed has left it unfinished'),
      remove: () => rm(path, { recursive: true, force: true }),
    };
  }
}

/**
 * Records that the client's namespace uses the storage, unless `isDry`.
 *
 * @returns whether no other namespace has ever used it
 * @throws when Temporal can't be reached
 */
export async function isOnlyNamespace(storage: Storage, client: Client, isDry = false): Promise<boolean> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  const own = `${NAMESPACES_PREFIX}${namespaceInfo!.id!}`;
  if (!isDry && (await storage.size(own)) === undefined) await storage.put(own, Buffer.from(namespace));
  for await (const { key } of storage.list(NAMESPACES_PREFIX)) if (key !== own) return false;
  return true;
}

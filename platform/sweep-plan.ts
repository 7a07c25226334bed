/** Plans of sweeps: what to remove, and why. Workers remove each item as it is found; `longhaul gc --dry-run` shows it. */
import type { Storage } from './storage/index.js';

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

/** Removes every item of a plan as it is found. @returns their kinds */
export async function sweep(plan: AsyncIterable<SweepItem>): Promise<SweptKind[]> {
  const kinds: SweptKind[] = [];
  for await (const item of plan) {
    await item.remove();
    kinds.push(item.kind);
  }
  return kinds;
}

/**
 * Number of shards of one principal's directory. The home directory, whose ID has no number, lists the first agents; shards
 * list the others. Fixed: every process has to look for an agent in the same shard.
 */
export const DIRECTORY_SHARDS = 4;

/** Shards of an agent's name, in the order of lookup: the first by a hash (FNV-1a), the others for when that is full. */
export function shardsOf(name: string): number[] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  return Array.from({ length: DIRECTORY_SHARDS }, (_, step) => (hash + step) % DIRECTORY_SHARDS);
}

/**
 * Number of shards of one principal's directory. The home directory, with no number in its ID, lists the first agents, and shards
 * list the others. Fixed, since every process must look for an agent in the same shard.
 */
export const DIRECTORY_SHARDS = 4;

/** Shards of an agent's name in lookup order: first by a hash (FNV-1a), then the others, in case that one is full. */
export function shardsOf(name: string): number[] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  return Array.from({ length: DIRECTORY_SHARDS }, (_, step) => (hash + step) % DIRECTORY_SHARDS);
}

/** V8's garbage collection in a worker's process: less garbage is kept, for a few percent of CPU. */
import { setFlagsFromString } from 'node:v8';

/** How much a heap may grow over what is alive in it before its old generation is collected, in percent. V8's default: up to 300. */
const GROWTH_PERCENT = 20;
/** Largest half of the young generation, in MiB. V8's default: 16. */
const SEMI_SPACE_MIB = 4;

/**
 * Bounds the heaps of this process and of threads that start later, among them those of workflows. V8 would let each grow to a multiple
 * of what is alive in it: a worker has several heaps, and most of what a workflow task allocates is garbage after it.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`);
}

/** V8's garbage collection in a worker's process: keeps less garbage, for a few percent of CPU. */
import { setFlagsFromString } from 'node:v8';

/** How much a heap may grow before its old generation is collected, in percent of what is alive. V8's default: up to 300. */
const GROWTH_PERCENT = 20;
/** Largest half of the young generation, in MiB. V8's default: 16. */
const SEMI_SPACE_MIB = 4;

/** Bounds the heaps of this process and of later threads. Most of what a workflow task allocates is garbage once it ends. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`);
}

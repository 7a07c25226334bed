/** Builds the workers in other languages, unless they are there: alone, since compilers take all cores for minutes. */
import { buildGo, installPython } from '../contract/workers.js';
import { prepareWorker } from './workers.js';

for (const name of ['go', 'java', 'python'] as const) await prepareWorker(name);
await buildGo();
await installPython();

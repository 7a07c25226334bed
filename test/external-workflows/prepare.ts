/**
 * Builds the workers in other languages, unless they are there: alone, since compilers take all cores for minutes.
 *
 *     node --import jiti/register test/external-workflows/prepare.ts go java python
 */
import { buildGo, installPython } from '../contract/workers.js';
import { prepareWorker, type WorkerName } from './workers.js';

/** The contract's examples in the same language. */
const CONTRACT: Partial<Record<WorkerName, () => Promise<unknown>>> = { go: buildGo, python: installPython };

for (const name of process.argv.slice(2) as WorkerName[]) {
  await prepareWorker(name);
  await CONTRACT[name]?.();
}

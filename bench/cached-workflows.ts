/**
 * Memory of a worker for its cached workflows, beside the budget: more operations are open than fit the cache, each with an open
 * question. A worker with the least cache gives the rest.
 *
 *     node --import jiti/register bench/cached-workflows.ts [--short]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { MB_PER_CACHED_WORKFLOW } from '../platform/settings/types.js';
import { IS_SHORT, residentMb, shortened, timeRuns, untilCount, withStack } from './support.js';

const OPERATIONS = shortened(1_200);
const BUDGETS_MB = IS_SHORT ? [6] : [60, 150, 300];
const LEAST_MB = 2 * MB_PER_CACHED_WORKFLOW;
const ASKING = "WorkflowType = 'asker' AND LonghaulStatus = 'input_required'";
/** Heaps shrink after a burst. */
const REST_MS = shortened(30_000);

/** Memory of a rested worker with all operations open, in MB. */
async function restedMb(budgetMb: number): Promise<number> {
  let measured = 0;
  await withStack(
    async ({ home, client, temporalAddress }) => {
      const connection = await Connection.connect({ address: temporalAddress });
      try {
        await timeRuns(OPERATIONS, 16, () => client.start('asker'));
        await untilCount(new Client({ connection }), ASKING, OPERATIONS);
        await sleep(REST_MS);
        measured = residentMb(home.parts().worker);
      } finally {
        await connection.close();
      }
    },
    { LONGHAUL_MAX_CACHED_WORKFLOWS: `${budgetMb}MB` },
  );
  return measured;
}

const leastMb = await restedMb(LEAST_MB);
console.log('| budget | cached workflows | worker | more than with 2 cached | for each |');
console.log('| -----: | ---------------: | -----: | ----------------------: | -------: |');
console.log(`| ${LEAST_MB} MB | 2 | ${Math.round(leastMb)} MB | | |`);
for (const budgetMb of BUDGETS_MB) {
  const workerMb = await restedMb(budgetMb);
  const cached = Math.floor(budgetMb / MB_PER_CACHED_WORKFLOW);
  const more = workerMb - leastMb;
  console.log(
    `| ${budgetMb} MB | ${cached} | ${Math.round(workerMb)} MB | ${Math.round(more)} MB | ${(more / (cached - 2)).toFixed(2)} MB |`,
  );
}

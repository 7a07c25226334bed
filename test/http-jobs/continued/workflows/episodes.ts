import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import { requestInput, stage } from 'longhaul/workflow';
import type * as activities from '../activities/episodes.js';

const { writeLines } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });
const answer = { type: 'object', properties: { go: { type: 'boolean' } } };

export async function episodes({ runs, run }: { runs: number; run: number }): Promise<{ runs: number }> {
  // Two runs have the same stage.
  stage(`part ${Math.ceil(run / 2)}`);
  await writeLines(run);
  await requestInput(answer, `Continue after run ${run}?`);
  if (run < runs) await continueAsNew<typeof episodes>({ runs, run: run + 1 });
  return { runs };
}

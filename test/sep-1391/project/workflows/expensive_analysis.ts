import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/expensive_analysis.js';

const { analyze } = proxyActivities<typeof activities>({ startToCloseTimeout: '2h' });

export async function expensive_analysis(input: { dataset: string; seconds: number; ledger?: string }) {
  return { dataset: input.dataset, rows: await analyze(input.seconds, input.ledger) };
}

import { ActivityFailure, proxyActivities, sleep } from '@temporalio/workflow';
import type * as activities from '../activities/blocked_loop.js';
import type { BlockedLoopInput } from '../activities/blocked_loop.js';

export async function blocked_loop(input: BlockedLoopInput) {
  const { activity, heartbeatSeconds = 60 } = input;
  const retry = { initialInterval: '2s', backoffCoefficient: 1 };
  const heartbeatTimeout = heartbeatSeconds * 1_000;
  const { crunch, neighbour } = proxyActivities<typeof activities>({
    startToCloseTimeout: '5m',
    heartbeatTimeout,
    retry,
  });
  if (activity === 'crunch') await crunch(input);
  else if (activity === 'neighbour') await neighbour(input);
  else await endLate(input);
  return {};
}

/** Stays open until the activity has ended after its time-out. */
async function endLate(input: BlockedLoopInput): Promise<void> {
  const { late } = proxyActivities<typeof activities>({
    startToCloseTimeout: '1s',
    retry: { maximumAttempts: 1 },
  });
  await late(input).catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
  });
  await sleep(2 * input.ms!);
}

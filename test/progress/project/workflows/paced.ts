import {
  ActivityFailure,
  ApplicationFailure,
  makeContinueAsNewFunc,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import { cleanup, stage } from 'longhaul/workflow';
import type * as activities from '../activities/paced.js';

interface Input {
  gate: string;
  progress: number;
  beginsAnew: boolean;
  heartbeatSeconds: number;
  attempts: number;
  retrySeconds: number;
  cleanupSeconds: number;
  continuesOn: string;
  thenWaitSeconds: number;
}

export async function paced(input: Input) {
  const { waitAtGate } = proxyActivities<typeof activities>({
    startToCloseTimeout: '1h',
    heartbeatTimeout: input.heartbeatSeconds * 1000,
    retry: { initialInterval: input.retrySeconds * 1000, maximumAttempts: input.attempts },
  });
  const { continuesOn: taskQueue } = input;
  if (taskQueue) await makeContinueAsNewFunc<typeof paced>({ taskQueue })({ ...input, continuesOn: '' });
  stage('at the gate');
  if (input.cleanupSeconds > 0) cleanup(() => sleep(input.cleanupSeconds * 1000));
  let ended: string;
  try {
    ended = await waitAtGate(input.gate, input.progress, input.beginsAnew);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure || cause?.name === 'TimeoutFailure')) throw error;
    ended = String(cause instanceof ApplicationFailure ? cause.details : cause.message);
  }
  stage(`after the gate: ${ended}`);
  await sleep(input.thenWaitSeconds * 1000);
  return { ended };
}

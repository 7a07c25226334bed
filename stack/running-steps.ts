/** Reports the steps that ended with their stack: steps outlive a worker, but not a stopped stack. */
import { stepsEndedWithStack } from '../worker/steps/end-steps.js';
import type { RunningStep } from '../worker/steps/running.js';
import { childName } from '../pipelines/run.js';
import type { Say } from './stack-error.js';

/** Milliseconds between SIGTERM and SIGKILL for steps. */
export const STEP_GRACE_MS = 7_000;

export async function sayEnded(home: string, running: RunningStep[], say: Say): Promise<void> {
  const ended = await stepsEndedWithStack(home, running);
  if (ended.length === 0) return;
  const steps =
    ended.length === 1
      ? 'a pipeline step that was running'
      : `${ended.length} pipeline steps that were running`;
  say(`Ended ${steps}; at the next start, idempotent ones run again, and people are asked about others:`);
  for (const step of ended) say(`  ${nameOf(step)}`);
}

function nameOf({ token, step }: RunningStep): string {
  return `${token}  ${childName(step.child)} / ${step.name}`;
}

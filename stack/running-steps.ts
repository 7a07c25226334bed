/** Ends the pipeline steps of a home with its stack, and says so: steps outlive their worker, but not a stack that is stopped. */
import { endSteps, stepsEndedWithStack, stepsThatRun } from '../activities/pipeline/end-steps.js';
import type { RunningStep } from '../activities/pipeline/running.js';
import { childName } from '../pipelines/run.js';
import type { Say } from './stack-error.js';

/** Time between SIGTERM and SIGKILL of the steps, in milliseconds. */
export const STEP_GRACE_MS = 7_000;

/** Ends the steps that run on the home's host. @param graceMs time between SIGTERM and SIGKILL; with 0 they are killed at once */
export async function endRunningSteps(home: string, say: Say, graceMs = STEP_GRACE_MS): Promise<void> {
  const running = await stepsThatRun(home);
  await endSteps(home, graceMs);
  await sayEnded(home, running, say);
}

/** Says which of the steps that ran were ended with the stack. */
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

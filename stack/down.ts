/** `longhaul down`: stops the stack of a home. */
import { childName } from '../pipelines/run.js';
import { endSteps, stepsEndedWithStack, stepsThatRun } from '../worker/steps/end-steps.js';
import type { RunningStep } from '../worker/steps/running.js';
import { signalProcess, waitUntilGone } from '../platform/home/process-identity.js';
import type { Say } from './stack-error.js';
import { isHolderAlive, stackHolder } from './stack-lock.js';
import { endOrphans } from './supervisor.js';

/** The stack drains within 10 s. After this limit it counts as hung. */
const EXIT_LIMIT_MS = 13_000;
/** Milliseconds between SIGTERM and SIGKILL for steps. */
export const STEP_GRACE_MS = 7_000;

export async function down(home: string, say: Say): Promise<void> {
  const holder = stackHolder(home);
  const running = await stepsThatRun(home);
  if (holder) {
    signalProcess(holder.pid, 'SIGTERM');
    if (!(await waitUntilGone(() => isHolderAlive(holder), EXIT_LIMIT_MS)))
      signalProcess(holder.pid, 'SIGKILL');
    await waitUntilGone(() => isHolderAlive(holder), 2_000);
  }
  await endOrphans(home, say);
  // Steps of a killed stack.
  await endSteps(home, STEP_GRACE_MS);
  await sayEnded(home, running, say);
  say(holder ? `Ended the stack on ${home} (PID ${holder.pid}).` : `No stack is running on ${home}.`);
}

/** Names the steps that ended with their stack: steps outlive a worker, but not a stopped stack. */
export async function sayEnded(home: string, running: RunningStep[], say: Say): Promise<void> {
  const ended = await stepsEndedWithStack(home, running);
  if (ended.length === 0) return;
  const steps =
    ended.length === 1
      ? 'a pipeline step that was running'
      : `${ended.length} pipeline steps that were running`;
  say(`Ended ${steps}; at the next start, idempotent ones run again, and people are asked about others:`);
  for (const { token, step } of ended) say(`  ${token}  ${childName(step.child)} / ${step.name}`);
}

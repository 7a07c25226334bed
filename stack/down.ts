/** `longhaul down`: stops the stack of a home. */
import { endSteps, stepsThatRun } from '../worker/steps/end-steps.js';
import { signalProcess, waitUntilGone } from '../platform/home/process-identity.js';
import type { Say } from './stack-error.js';
import { sayEnded, STEP_GRACE_MS } from './running-steps.js';
import { isHolderAlive, stackHolder } from './stack-lock.js';
import { endOrphans } from './supervisor.js';

/** The stack drains within 10 s. After this limit it counts as hung. */
const EXIT_LIMIT_MS = 13_000;

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

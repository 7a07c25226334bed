/** `longhaul down`: ends the stack of a home, wherever it was started. */
import { signalProcess, goneWithin } from '../platform/process-identity.js';
import type { Say } from './stack-error.js';
import { isHolderAlive, stackHolder } from './stack-lock.js';
import { endLeftOvers } from './supervisor.js';

/** The stack drains within 10 s; one that takes longer hangs. */
const PATIENCE_MS = 13_000;

/** Ends the stack; a word also when none runs. */
export async function down(home: string, say: Say): Promise<void> {
  const holder = stackHolder(home);
  if (holder) {
    signalProcess(holder.pid, 'SIGTERM');
    if (!(await goneWithin(() => isHolderAlive(holder), PATIENCE_MS))) signalProcess(holder.pid, 'SIGKILL');
    await goneWithin(() => isHolderAlive(holder), 2_000);
  }
  await endLeftOvers(home, say);
  say(holder ? `Ended the stack on ${home} (PID ${holder.pid}).` : `No stack is running on ${home}.`);
}

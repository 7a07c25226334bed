/** Asks before a change, or before many calls, on a terminal. */
import { say } from '../console.js';
import { usageFailure } from '../client/failures.js';

export interface ConfirmFlags {
  /** Do it without asking. */
  yes?: boolean;
}

/**
 * Shows what a command would do, and asks whether to do it.
 *
 * @param undone if it isn't done: nothing was changed, or read
 * @returns false if the person declined
 * @throws CommandFailure without a terminal to ask on, unless `yes` is set
 */
export async function confirmed(
  plan: string[],
  { yes }: ConfirmFlags,
  undone: 'changed' | 'read' = 'changed',
): Promise<boolean> {
  for (const line of plan) say(line);
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageFailure(`expected --yes, since there is no terminal to ask on; nothing was ${undone}`);
  const { confirm } = await import('../client/prompts.js');
  const answer = await confirm({ message: 'Continue?', initialValue: false });
  if (answer === true) return true;
  say(`Nothing was ${undone}.`);
  return false;
}

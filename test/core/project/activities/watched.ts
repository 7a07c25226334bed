import { Context } from '@temporalio/activity';
import { report } from 'longhaul/activity';

/** Works until it is cancelled, and always has something new to report. */
export async function watchForever(): Promise<never> {
  let progress = 0;
  const timer = setInterval(() => report({ progress: (progress += 1) }), 250);
  return Context.current().cancelled.finally(() => clearInterval(timer));
}

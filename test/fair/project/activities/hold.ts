import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';

/** Records its begin and end in the folder's log, and works until the folder has a file of its name, or `release`. */
export async function hold(folder: string, name: string): Promise<string> {
  const record = (what: 'begin' | 'end') =>
    appendFileSync(join(folder, 'log'), `${JSON.stringify({ what, name, at: Date.now() })}\n`);
  record('begin');
  try {
    while (!['release', name].some((file) => existsSync(join(folder, file)))) {
      Context.current().cancellationSignal.throwIfAborted();
      await delay(20);
    }
  } finally {
    record('end');
  }
  return name;
}

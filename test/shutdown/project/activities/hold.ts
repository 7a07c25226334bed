import { existsSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { cancellationSignal } from 'longhaul/activity';

const attempt = () => ({ pid: process.pid, attempt: activityInfo().attempt });

/** Writes its attempt to `held`, a line each, and ends once there is a file `release`. */
export async function holdUntilReleased(folder: string) {
  await appendFile(join(folder, 'held'), `${JSON.stringify(attempt())}\n`);
  while (!existsSync(join(folder, 'release'))) await delay(100, undefined, { signal: cancellationSignal() });
  return attempt();
}

/** Writes its attempt to `noted`. */
export async function note(folder: string) {
  writeFileSync(join(folder, 'noted'), JSON.stringify(attempt()));
  return attempt();
}

import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, log, report } from 'longhaul/activity';

/** Writes a numbered line every 20 ms until there is the file. @returns number of lines */
export async function writeLines(file: string): Promise<number> {
  let lines = 0;
  while (!existsSync(file)) {
    log.info(`line ${++lines}`);
    report({ progress: lines });
    await delay(20, undefined, { signal: cancellationSignal() });
  }
  return lines;
}

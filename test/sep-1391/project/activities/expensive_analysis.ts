import { appendFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, report } from 'longhaul/activity';

/** Counts rows for as long as it is told to, and leaves a line for each time that it ran. */
export async function analyze(seconds: number, ledger: string | undefined): Promise<number> {
  if (ledger !== undefined) await appendFile(ledger, 'ran\n');
  for (let elapsed = 0; elapsed < seconds; elapsed += 0.1) {
    report({ progress: elapsed, total: seconds });
    await delay(100, undefined, { signal: cancellationSignal() });
  }
  return 512;
}

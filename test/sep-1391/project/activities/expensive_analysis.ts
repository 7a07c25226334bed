import { appendFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, report } from 'longhaul/activity';

/** Counts rows for the given time, and appends a line to the ledger for each run. */
export async function analyze(seconds: number, ledger: string | undefined): Promise<number> {
  if (ledger !== undefined) await appendFile(ledger, 'ran\n');
  for (let elapsed = 0; elapsed < seconds; elapsed += 0.1) {
    report({ progress: elapsed, total: seconds });
    await delay(100, undefined, { signal: cancellationSignal() });
  }
  return 512;
}

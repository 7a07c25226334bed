import { appendFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, lastReport, report } from 'longhaul/activity';

/** Ten units of work; an attempt begins at the last one that was reported. */
export async function runBatch(
  ledger: string,
  name: string,
  batch: number,
  seconds: number,
): Promise<number> {
  await appendFile(ledger, `${name} ${batch} start ${Date.now()}\n`);
  const signal = cancellationSignal();
  for (let unit = lastReport()?.progress ?? 0; unit < 10; unit += 1) {
    report({ progress: unit, message: `unit ${unit} of batch ${batch}` });
    await delay(seconds * 100, undefined, { signal });
  }
  report({ progress: 10, message: `batch ${batch} is done` });
  await appendFile(ledger, `${name} ${batch} done ${Date.now()}\n`);
  return batch;
}

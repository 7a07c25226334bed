import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, lastReport, report, requestKey, writeArtifact } from 'longhaul/activity';

async function leave(name: string): Promise<void> {
  await writeArtifact(`${name}.txt`, name);
}

/** Reports 10 of 20, waits until the gate has a word, then reports all. */
export async function walk(name: string, gate?: string): Promise<string> {
  const before = lastReport()?.progress ?? 0;
  report({ progress: Math.max(before, 10), total: 20, message: `${name} is half done` });
  if (gate !== undefined) appendFileSync(`${gate}.keys`, `${requestKey('walk')} ${requestKey(name)}\n`);
  const signal = cancellationSignal();
  signal.addEventListener('abort', () => writeFileSync(`${gate}.canceled`, ''));
  while (gate !== undefined && !existsSync(gate)) await delay(100, undefined, { signal });
  const word = gate === undefined ? 'done' : readFileSync(gate, 'utf8');
  if (word === 'again') throw new Error(`${name} stumbled`);
  if (word === 'fail') throw ApplicationFailure.nonRetryable(`${name} fell`, 'Fell');
  await leave(name);
  report({ progress: 20, total: 20 });
  return `${name} from ${before}`;
}

/** A local activity. */
export async function jot(name: string): Promise<string> {
  report({ progress: 5, total: 5 });
  await leave(name);
  return `${name} jotted`;
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, lastReport, report, saveArtifact } from 'longhaul/activity';

async function leave(name: string): Promise<void> {
  const path = join(await mkdtemp(join(tmpdir(), 'longhaul-survey-')), `${name}.txt`);
  await writeFile(path, name);
  await saveArtifact(path);
}

/** Reports 10 of 20, waits until the gate has a word, then reports all. */
export async function walk(name: string, gate?: string): Promise<string> {
  const before = lastReport()?.progress ?? 0;
  report({ progress: Math.max(before, 10), total: 20, message: `${name} is half done` });
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

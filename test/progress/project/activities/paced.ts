import { readFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, lastReport, report } from 'longhaul/activity';

/** Reports, then waits for the file that says how to end. */
export async function waitAtGate(gate: string, progress: number): Promise<string> {
  const before = lastReport()?.progress ?? 0;
  report({ progress: before + progress, total: 100, message: `${before + progress} reported` });
  const signal = cancellationSignal();
  while (!existsSync(gate)) await delay(50, undefined, { signal });
  const how = readFileSync(gate, 'utf8');
  if (how === 'fail') throw ApplicationFailure.nonRetryable('the gate says so', 'GateFailed', 'kept detail');
  return how;
}

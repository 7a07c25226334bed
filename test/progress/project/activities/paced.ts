import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { cancellationSignal, lastReport, report } from 'longhaul/activity';

/** Reports, then waits for the file that says how to end. */
export async function waitAtGate(gate: string, progress: number, beginsAnew: boolean): Promise<string> {
  const { attempt } = Context.current().info;
  const reached = beginsAnew ? progress / attempt : (lastReport()?.progress ?? 0) + progress;
  report({ progress: reached, total: 100, message: `${reached} reported` });
  const signal = cancellationSignal();
  while (!existsSync(gate)) await delay(50, undefined, { signal });
  const how = readFileSync(gate, 'utf8');
  if (how === 'retry') {
    rmSync(gate);
    throw ApplicationFailure.retryable('the gate says so', 'GateFailed');
  }
  if (how === 'fail') throw ApplicationFailure.nonRetryable('the gate says so', 'GateFailed', 'kept detail');
  return how;
}

/** A runner's process as work of an activity: cancelled with it, and known to its next attempt. */
import { join } from 'node:path';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { cancellationSignal, log, workerSettings } from 'longhaul/activity';
import { Collector } from './collect.js';
import { runnerEnvironment } from './environment.js';
import { runProcess, type Ended } from './run-shard.js';
import { RunnerMissing } from './runners/missing.js';
import type { TestEvent } from './types.js';

export interface Run {
  argv: string[];
  environment: Record<string, string>;
  /** From the call. */
  input: { filter?: string | undefined; silenceSeconds: number };
  isRerun?: boolean;
  onLine: (line: string) => void;
  onEvent: (event: TestEvent, collector: Collector) => void;
  reader?: ((line: string | undefined) => { events: TestEvent[]; text?: string }) | undefined;
}

export async function runInActivity(
  folder: string,
  { argv, environment, input, isRerun = false, onLine, onEvent, reader }: Run,
): Promise<{ ended: Ended; collector: Collector }> {
  const { workflowExecution, activityId } = Context.current().info;
  const collector = new Collector(folder, isRerun || input.filter !== undefined);
  const work = [workflowExecution!.workflowId, activityId].join('-').replace(/[^\w.-]/g, '_');
  const ended = await explained(
    runProcess({
      argv,
      cwd: folder,
      environment: runnerEnvironment(environment),
      // Two workers on copies of a home must not end each other's.
      marker: `${workerSettings().home}/${work}`,
      record: join(workerSettings().home, 'test-runs', `${work}.json`),
      silenceMs: input.silenceSeconds * 1000,
      signal: cancellationSignal(),
      collector,
      reader,
      onLine,
      onEvent: (event) => onEvent(event, collector),
    }),
  );
  if (ended.earlier > 0) log.warn('ended processes of an earlier attempt', { processes: ended.earlier });
  return { ended, collector };
}

export function listingFailed(argv: string[], { isHung, exitCode, signal, lastLines }: Ended): Error {
  const how = isHung ? 'printed nothing for too long' : `ended with ${signal ?? `exit code ${exitCode}`}`;
  const output = lastLines.join('\n');
  if (/No module named pytest/.test(output))
    return ApplicationFailure.nonRetryable(`pytest isn't installed: ${output}`, 'RunnerMissing');
  return ApplicationFailure.nonRetryable(`${argv.slice(0, 4).join(' ')} ${how}:\n${output}`, 'RunnerFailed');
}

/** A runner that isn't there is no reason for a retry. */
export async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const missing =
      code === 'ENOENT' && path !== undefined ? `${path} isn't installed on this machine` : undefined;
    const message = error instanceof RunnerMissing ? error.message : missing;
    if (message === undefined) throw error;
    throw ApplicationFailure.nonRetryable(message, 'RunnerMissing');
  }
}

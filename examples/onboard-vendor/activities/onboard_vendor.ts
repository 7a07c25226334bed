import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, log, report, requestKey, workerSettings } from 'longhaul/activity';
import { get, isRefusal, post, remove } from '../lib/systems.js';

const POLL_MS = 250;

/** A record that one step of an operation wants in a system. */
export interface Wanted {
  /** Names the step within its operation: the step has one record, however often it is asked for. */
  step: string;
  /** `SYSTEM/COLLECTION` of the systems' API. */
  path: string;
  body: object;
}

interface Job {
  state: 'running' | 'completed' | 'cancelled';
  done: number;
  of: number;
  phase?: string;
  finding?: string;
}

/** Whether approvals are for some roles only: that needs callers with names. */
export async function approvalsByRole(): Promise<boolean> {
  return workerSettings().authentication.length > 0;
}

/** @returns ID of the record */
export async function createRecord({ step, path, body }: Wanted): Promise<string> {
  const { id } = await post(path, requestKey(step), body);
  log.info('created', { path, id });
  report({ progress: 1, total: 1 });
  return id;
}

/** Polls a background check until it is over. @returns what it found against the vendor */
export async function awaitCheck(arn: string): Promise<{ finding?: string }> {
  for (;;) {
    const { state, done, of, phase, finding } = (await get('checks/jobs', arn)) as Job;
    report({ progress: done, total: of, message: phase });
    if (state === 'completed') return { finding };
    if (state === 'cancelled')
      throw ApplicationFailure.nonRetryable(`${arn} was cancelled at the checking company`, 'CheckCancelled');
    await sleep(POLL_MS, undefined, { signal: cancellationSignal() });
  }
}

/**
 * Removes the record of a step. Without its ID nobody knows whether the system has carried the request out, or still will: the same
 * request, under the same key, gives the ID, and settles that a late one creates nothing.
 *
 * @returns its ID; undefined if the system refuses the request, so that there is no record
 */
export async function undoRecord({
  step,
  path,
  body,
  id,
}: Wanted & { id?: string }): Promise<string | undefined> {
  try {
    const known = id ?? (await post(path, requestKey(step), body)).id;
    await remove(path, known);
    log.info('undone', { path, id: known });
    return known;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

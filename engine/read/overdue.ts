/**
 * Overdue operations: their time is up, but no worker is there to end them, or the workflow's code keeps failing. The deadline is a
 * workflow timer, so it needs a worker. Readers and the server's sweep terminate such runs; the reason in the history marks them as timed
 * out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { readMemo } from '../../platform/temporal/memo.js';
import { humanDuration } from '../../operations/tool/budgets.js';
import { undefinedIf } from '../../operations/errors.js';
import { SEARCH_ATTRIBUTES, START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { count, OTHER } from '../../platform/observe/metrics/index.js';
import type { Tools } from '../../platform/project/tools.js';
import { anyOf, quote, RUNNING_RUNS } from '../../platform/temporal/visibility-query.js';
import { pagesOfRuns, type RunInfo } from '../list/current-runs.js';
import { IS_WORKING } from '../list/visibility-query.js';
import { toDate } from './history.js';
import { lastTaskFailure } from './task-failure.js';
import { endRun } from './terminated.js';
import type { TemporalClient } from '../temporal/client.js';

/** How long a workflow task stays pending before an overdue run is ended, in milliseconds, monotonic. A worker would have taken it. */
const STUCK_MS = 10_000;
const MAX_REMEMBERED = 1_000;

/** Runs per page of the sweep, and its maximum number of pages. Each run comes with its memo. */
const PAGE_RUNS = 100;
const MAX_PAGES = 5;

type Memo = Record<string, unknown> | undefined;

/** Message of an operation that Temporal or a server has ended. @param failing error of its code until then, if any */
export function overdueMessage(memo: Memo, failing: string | undefined): string {
  const { deadlineSeconds, inputWaitSeconds, queue, runtime } = memoOf(memo);
  const { questions, turnAt } = stateOf(memo);
  const maximum = deadlineSeconds === undefined ? 'duration' : `of ${humanDuration(deadlineSeconds)}`;
  const late = `the work took longer than its maximum ${maximum}`;
  if (failing !== undefined) return `${late}; its code kept failing: ${failing}`;
  if (queue && turnAt === undefined)
    return `its turn in the queue ${queue.name} did not come in the time that it had`;
  if (inputWaitSeconds && questions)
    return `nobody answered within the ${humanDuration(inputWaitSeconds)} that people have in all`;
  return runtime === 'none' || memo === undefined ? late : `${late}, and no worker ended it`;
}

/**
 * Whether an open run has worked for longer than its maximum and the cleanup's budget. Never while a person is asked: the memo doesn't show
 * whether other work continues meanwhile. A reset run counts from the reset.
 *
 * @param startTime of the run, on Temporal's clock
 * @param nowMs on the same clock
 */
function isOverdue(startTime: Date, memo: Memo, nowMs: number): boolean {
  const { deadlineSeconds, cleanupSeconds, queue } = memoOf(memo);
  const state = stateOf(memo);
  const { questions, deadlineRemainingMs, awaitedMs = 0, awaitedBeforeMs = 0 } = state;
  // External workflows have no budget; Temporal's time-out ends them.
  if (deadlineSeconds === undefined || cleanupSeconds === undefined) return false;
  // A state that can't be read may have questions.
  if (questions || isUnreadable(state)) return false;
  const workMs = (deadlineRemainingMs ?? deadlineSeconds * 1000) + awaitedMs - awaitedBeforeMs;
  // A continued run begins with its turn.
  const turnMs = deadlineRemainingMs === undefined ? turnWaitMs(queue, state) : 0;
  return nowMs - startTime.getTime() > workMs + turnMs + cleanupSeconds * 1000;
}

/** How long an operation has waited, or may wait, for its turn, in milliseconds. */
function turnWaitMs(queue: StartMemo['queue'], { turnAt, turnWaitedMs = 0 }: StateMemo): number {
  return queue && turnAt === undefined ? queue.waitSeconds * 1000 : turnWaitedMs;
}

export class OverdueRuns {
  /** Run ID -> its pending workflow task, and since when that is known. */
  readonly #stuck = new LRUCache<string, { scheduledAt: string; sinceMs: number }>({ max: MAX_REMEMBERED });

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Terminates the run if it is overdue and the same workflow task has been pending for 10 s.
   *
   * @returns whether the run has ended, so the description is out of date
   * @throws LonghaulError `unavailable`
   */
  async endIfOverdue(description: WorkflowExecutionDescription): Promise<boolean> {
    const { workflowId, runId, status, startTime, memo } = description;
    // A paused run takes no task, so it can't end itself.
    const isRunning = status.name === 'RUNNING';
    const isLate = isRunning && isOverdue(startTime, memo, await this.temporal.nowMs());
    if (!isLate || !this.#isStuck(description)) return false;
    const failing = await lastTaskFailure(this.temporal, workflowId, runId).catch(undefinedIf('not_found'));
    const message = overdueMessage(memo, failing?.text);
    const ended = await endRun(this.temporal, { workflowId, runId }, 'timed_out', message);
    if (ended === 'terminated')
      count('longhaul_operations_closed_total', { tool: memoOf(memo).tool ?? OTHER, status: 'timed_out' });
    return ended !== undefined;
  }

  #isStuck({ runId, raw }: WorkflowExecutionDescription): boolean {
    const { originalScheduledTime } = raw.pendingWorkflowTask ?? {};
    const known = this.#stuck.get(runId);
    this.#stuck.delete(runId);
    if (!originalScheduledTime) return false;
    const scheduledAt = toDate(originalScheduledTime).toISOString();
    const sinceMs = known?.scheduledAt === scheduledAt ? known.sinceMs : performance.now();
    this.#stuck.set(runId, { scheduledAt, sinceMs });
    return performance.now() - sinceMs >= STUCK_MS;
  }

  /**
   * Ends overdue operations that nobody reads. Usually costs one call to visibility. @returns how many @throws LonghaulError `unavailable`
   */
  async sweep(tools: Tools): Promise<number> {
    const { searchAttributes } = await this.temporal.facts();
    const nowMs = await this.temporal.nowMs();
    const query = overdueQuery(this.temporal, tools, nowMs);
    if (!searchAttributes || query === undefined) return 0;
    const late: string[] = [];
    for await (const infos of pagesOfRuns(this.temporal, 'sweep', query, PAGE_RUNS, MAX_PAGES))
      for (const info of infos)
        if (await this.#isListedOverdue(info, nowMs)) late.push(info.execution!.workflowId!);
    const waiting: string[] = [];
    let count = 0;
    for (const workflowId of late)
      if (await this.#end(workflowId)) count += 1;
      else waiting.push(workflowId);
    if (waiting.length === 0) return count;
    await delay(STUCK_MS, undefined, { ref: false });
    for (const workflowId of waiting) if (await this.#end(workflowId)) count += 1;
    return count;
  }

  async #isListedOverdue({ startTime, memo }: RunInfo, nowMs: number): Promise<boolean> {
    const listed = await readMemo(this.temporal.dataConverter, memo?.fields, [START_MEMO, STATE_MEMO]);
    return isOverdue(toDate(startTime ?? {}), listed, nowMs);
  }

  /** Reads the current run first, because lists lag. */
  async #end(workflowId: string): Promise<boolean> {
    const description = await this.temporal.describe(workflowId).catch(undefinedIf('not_found'));
    return description !== undefined && this.endIfOverdue(description);
  }
}

/** Query for open runs that may be overdue; undefined without tools. Temporal itself ends runs of tools without questions and queue. */
function overdueQuery(temporal: TemporalClient, tools: Tools, nowMs: number): string | undefined {
  const names = new Map<number, string[]>();
  for (const { name, deadlineSeconds, cleanupSeconds, inputWaitSeconds, queue } of tools.values()) {
    if (inputWaitSeconds === 0 && !queue) continue;
    const limitMs = (deadlineSeconds + cleanupSeconds) * 1000;
    names.set(limitMs, [...(names.get(limitMs) ?? []), name]);
  }
  if (names.size === 0) return undefined;
  const late = [...names].map(
    ([limitMs, of]) =>
      `(${SEARCH_ATTRIBUTES.tool} ${anyOf(of)} AND ` +
      `StartTime < '${new Date(nowMs - limitMs).toISOString()}')`,
  );
  return [
    RUNNING_RUNS,
    `TaskQueue = ${quote(temporal.taskQueue)}`,
    IS_WORKING,
    `(${late.join(' OR ')})`,
  ].join(' AND ');
}

function memoOf(memo: Memo): Partial<StartMemo> {
  return (memo?.[START_MEMO] as StartMemo | undefined) ?? {};
}

function stateOf(memo: Memo): StateMemo {
  return (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
}

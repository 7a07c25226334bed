/**
 * The state of the one operation that this workflow execution is. Helpers change it, the interceptors show it.
 * Module state is per workflow execution: Temporal's sandbox gives each its own modules.
 */
import { upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { KEPT_ANSWERS, type Answer, type AnsweredRequest, type Progress } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/schema.js';
import {
  START_MEMO,
  PART_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  STATE_MEMO_LIMIT_BYTES,
  tokenOf,
  type StartMemo,
  type PartMemo,
  type StateMemo,
} from '../../operations/wire.js';

const STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, SearchAttributeType.KEYWORD);

/** A question that waits for its answer. */
interface OpenQuestion {
  schema: JsonSchema;
  settle: (answer: Answer, answerId: string) => void;
}

export type Cleanup = (reason: 'canceled' | 'timed_out' | 'failed') => Promise<void>;

export const questions = new Map<string, OpenQuestion>();
/** Key of an answered question -> ID of the answer that was taken. */
export const answered = new Map<string, string>();
export const cleanups: Cleanup[] = [];

/** Longhaul's marker; undefined in a workflow that is no operation. */
export function marker(): StartMemo | undefined {
  return workflowInfo().memo?.[START_MEMO] as StartMemo | undefined;
}

/** Set in a part: a child workflow of an operation, or of another part. */
export function part(): PartMemo | undefined {
  return workflowInfo().memo?.[PART_MEMO] as PartMemo | undefined;
}

/** The operation that this workflow is, or belongs to. */
export function operation(): Pick<PartMemo, 'operationId' | 'token' | 'tool'> {
  const { workflowId } = workflowInfo();
  const { principal, tool } = marker() ?? {};
  return part() ?? { operationId: workflowId, token: tokenOf(principal!, workflowId), tool: tool! };
}

let current: StateMemo | undefined;
let status: string | undefined;
let isDirty = false;
let isClosed = false;
let activeWork = 0;
/** Since when only people have been awaited, as epoch milliseconds; undefined while they aren't. */
let awaitedSince: number | undefined;

/** The state as it is now; a run that continues another one starts with its state. */
export function state(): StateMemo {
  current ??= { ...((workflowInfo().memo?.[STATE_MEMO] as StateMemo | undefined) ?? {}) };
  return current;
}

/**
 * Changes the state. It reaches the memo with the workflow task that is running anyway, once for all changes
 * that are made together: each write is an event of history.
 */
export function change(changes: Partial<StateMemo>): void {
  Object.assign(state(), changes, { updatedAt: new Date().toISOString() });
  if (isDirty || isClosed) return;
  isDirty = true;
  void Promise.resolve().then(flush);
}

/** Takes a question back: it is answered, or nobody waits for it any more. */
export function withdraw(key: string): void {
  questions.delete(key);
  const { [key]: _withdrawn, ...inputRequests } = state().inputRequests ?? {};
  change({ inputRequests });
}

/** Keeps how an input request was answered, with the change that takes it back. */
export function keepAnswer(answer: Omit<AnsweredRequest, 'at'>, at = new Date().toISOString()): void {
  const answers = [...(state().answers ?? []), { ...answer, at }];
  change({ answers: answers.slice(-KEPT_ANSWERS) });
}

/** Writes what has changed since the last write. */
export function flush(): void {
  if (!isDirty || isClosed) return;
  isDirty = false;
  // The answer that ends a wait is written now: how long it took goes along, since nothing may be written after it.
  countAwaited();
  const { children: _queried, ...shown } = state();
  writeMemo(shown);
  setStatus(questions.size > 0 ? 'input_required' : 'working');
}

/** Leaves out what would make the memo too large: the query has it. */
function writeMemo(whole: StateMemo): void {
  let memo = whole;
  const isLarge = () => JSON.stringify(memo).length > STATE_MEMO_LIMIT_BYTES;
  if (memo.children && isLarge()) {
    const { children: _children, ...rest } = memo;
    memo = { ...rest, areChildrenLarge: true };
  }
  if (memo.partial !== undefined && isLarge()) {
    const { partial: _partial, ...rest } = memo;
    memo = { ...rest, isPartialLarge: true };
  }
  upsertMemo({ [STATE_MEMO]: memo });
}

/** Shortest time in queue that is worth an event of its own, in milliseconds. */
const LONG_QUEUE_MS = 1_000;

/** Writes what is left to write and the final status; nothing is written after it. */
export function close(finalStatus: string): void {
  if ((state().queuedMs ?? 0) >= LONG_QUEUE_MS) isDirty = true;
  if (state().children) writeMemo(state());
  else flush();
  setStatus(finalStatus);
  isClosed = true;
}

function setStatus(next: string): void {
  // A run that continues another one starts with what that one wrote.
  status ??= workflowInfo().typedSearchAttributes.get(STATUS) ?? 'working';
  if (next === status) return;
  status = next;
  if (marker()?.searchAttributes) upsertSearchAttributes([{ key: STATUS, value: next }]);
}

/** Sets the shell's own progress; it never goes back. */
export function setProgress(next: Partial<Progress>): void {
  const before = state().progress;
  const total = next.total ?? before?.total;
  const message = next.message ?? before?.message;
  change({
    progress: {
      progress: Math.max(before?.progress ?? 0, next.progress ?? 0),
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    },
  });
}

/**
 * Adds what an activity or a part that has ended had reported to the workflow's own progress.
 *
 * @param isDone has it completed? What it left of its total is no work then
 */
export function foldProgress(reported: Progress, isDone: boolean): void {
  const before = state().progress;
  const { progress, total, message } = reported;
  if (total !== undefined)
    state().unreached = (state().unreached ?? 0) + (isDone ? 0 : Math.max(0, total - progress));
  setProgress({
    progress: (before?.progress ?? 0) + progress,
    ...(message === undefined ? {} : { message }),
  });
}

/** Counts work that isn't waiting for people while it runs. */
export async function countAsWork<T>(work: () => Promise<T>): Promise<T> {
  const end = beginWork();
  try {
    return await work();
  } finally {
    end();
  }
}

/** Work that isn't waiting for people begins. @returns to be called once, when it ends */
export function beginWork(): () => void {
  activeWork += 1;
  return () => {
    activeWork -= 1;
  };
}

/** Says that only people are awaited, from now on or no longer. */
export function setAwaited(isAwaited: boolean): void {
  countAwaited();
  awaitedSince = isAwaited ? Date.now() : undefined;
}

function countAwaited(): void {
  if (awaitedSince === undefined) return;
  const now = Date.now();
  state().awaitedMs = (state().awaitedMs ?? 0) + now - awaitedSince;
  awaitedSince = now;
}

/** Is there nothing to wait for but people? Then the deadline stands still. */
export function onlyPeopleAwaited(): boolean {
  return questions.size > 0 && activeWork === 0;
}

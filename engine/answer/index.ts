/**
 * Answers to input requests. An update goes first, since its response says whether the answer counts. If no worker takes it in time, a
 * signal with the same ID follows and waits in the history. The first answer in the history wins.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { answererProblem, misfitOf, startersOf } from '../../operations/answers.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import {
  isTerminal,
  type AnsweredRequest,
  type InputRequest,
  type OperationRecord,
} from '../../operations/record.js';
import {
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  type ProvidedInput,
} from '../../operations/wire/index.js';
import type { TemporalClient } from '../temporal/client.js';
import type { GivenAnswer } from './claims.js';
import { sentAnswers } from './sent.js';

/** Interval between looks for a signal in the history, in milliseconds. */
const LOOK_MS = 200;
/** How long a signal may take to reach the history after its workflow task has timed out, in milliseconds. */
const LATE_MS = 1_000;
const DEFAULT_TASK_TIMEOUT_SECONDS = 10;

/** `accepted`: the operation has the answer. `queued`: the answer is first in the history, and a worker will take it. */
export type AnswerState = 'accepted' | 'queued';

interface AnswerReceipt {
  /** The ID in the record's `answers`. */
  id: string;
  state: AnswerState;
  /** Whether no worker took the answer when it was sent. Never changes, unlike the state. */
  wasQueued: boolean;
}

export type SentReceipt = Omit<AnswerReceipt, 'id'>;

export interface AnsweredOperation extends AnswerReceipt {
  record: OperationRecord;
}

export interface Answered {
  temporal: TemporalClient;
  workflowId: string;
  read: () => Promise<OperationRecord>;
  /** Whether a worker other than Longhaul's reads the answer. */
  isExternal: boolean;
}

/**
 * Answers an input request.
 *
 * @throws LonghaulError `wrong_state` if the question isn't open, or another answer counts; `forbidden`, `invalid_answer`, `too_large`,
 *   `not_found`; `unavailable`: the same answer can be sent again
 */
export async function answerOperation(
  operation: Answered,
  record: OperationRecord,
  input: ProvidedInput,
  by: GivenAnswer['by'],
): Promise<SentReceipt> {
  const known = await outcomeIn(operation, record, input);
  if (known) return receiptOf(operation, record.runId, input, known);
  if (isTerminal(record.status)) throw closedError(record);
  const asked = record.inputRequests[input.key];
  if (!asked) throw notOpen(input.key);
  const refusal = answererProblem(asked, by, startersOf(record));
  if (refusal !== undefined) throw new LonghaulError('forbidden', refusal);
  const misfit = misfitOf(asked.schema, input.answer);
  if (misfit !== undefined) throw new LonghaulError('invalid_answer', misfit);
  const refusedBefore = refusedIn(record, input);
  const taken = await update(operation, input);
  if (taken) return taken;
  const state = await signal(operation, input, { asked, refusedBefore });
  return receiptOf(operation, record.runId, input, state);
}

/** The receipt of an answer that counts. Its first event in the history decides, however often it was sent. */
async function receiptOf(
  { temporal, workflowId }: Answered,
  runId: string,
  { answerId }: ProvidedInput,
  state: AnswerState,
): Promise<SentReceipt> {
  const sent = await sentAnswers(temporal, { workflowId, runId });
  const first = sent.find(({ given }) => given.answerId === answerId);
  // The history of earlier runs isn't read.
  return { state, wasQueued: first?.isSignal ?? state === 'queued' };
}

/** Calls with payloads that the operation's workers can read. @throws LonghaulError */
function callWorker<T>(
  { temporal, isExternal }: Answered,
  make: (client: TemporalClient['client']) => Promise<T>,
): Promise<T> {
  return isExternal ? temporal.callPlain(make) : temporal.call(make);
}

/** @returns undefined if no worker takes the update in time */
async function update(operation: Answered, input: ProvidedInput): Promise<SentReceipt | undefined> {
  const { workflowId, read } = operation;
  try {
    await callWorker(operation, (client) =>
      client.workflow
        .getHandle(workflowId)
        .executeUpdate(PROVIDE_INPUT_UPDATE, { args: [input], updateId: input.answerId }),
    );
    return { state: 'accepted', wasQueued: false };
  } catch (error) {
    if (isKind(error, 'unavailable')) return undefined;
    const now = await read();
    const known = await outcomeIn(operation, now, input);
    if (known) return receiptOf(operation, now.runId, input, known);
    if (isTerminal(now.status)) throw closedError(now);
    throw error instanceof WorkflowUpdateFailedError ? rejectionError(error) : error;
  }
}

/** Sends the signal, and waits until the history shows its outcome. @param refusedBefore earlier refusal of the same answer */
async function signal(
  operation: Answered,
  input: ProvidedInput,
  { asked, refusedBefore }: { asked: InputRequest; refusedBefore: AnsweredRequest | undefined },
): Promise<AnswerState> {
  const { temporal, workflowId, read } = operation;
  try {
    await callWorker(operation, (client) =>
      client.workflow.getHandle(workflowId).signal(PROVIDE_INPUT_SIGNAL, input),
    );
  } catch (error) {
    if (!isKind(error, 'not_found')) throw error;
  }
  const shown = await eventuallyShown(temporal, workflowId, async () => {
    const now = await read();
    const state = await outcomeIn(operation, now, input);
    if (state) return state;
    const refused = refusedIn(now, input);
    if (refused && refused.at !== refusedBefore?.at)
      throw new LonghaulError('wrong_state', `the answer was refused: ${refused.reason ?? ''}`);
    if (isTerminal(now.status)) throw closedError(now);
    return undefined;
  });
  if (shown) return shown;
  // Workers in other languages may keep no IDs, and a paused workflow has no task.
  if (await isFirst(operation, undefined, input, asked)) return 'queued';
  throw new LonghaulError(
    'unavailable',
    'no worker took the answer, and Temporal has not written it into the history yet; send the same answer again',
  );
}

/**
 * Looks until there is something to show. Temporal buffers signals while a stopped worker holds the workflow's task, for at most the task's
 * time-out.
 *
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function eventuallyShown<T>(
  temporal: TemporalClient,
  workflowId: string,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const first = await look();
  if (first !== undefined) return first;
  const { raw } = await temporal.describe(workflowId);
  const { seconds = DEFAULT_TASK_TIMEOUT_SECONDS } = raw.executionConfig?.defaultWorkflowTaskTimeout ?? {};
  const untilMs = performance.now() + Number(seconds) * 1000 + LATE_MS;
  while (performance.now() < untilMs) {
    await delay(LOOK_MS);
    const shown = await look();
    if (shown !== undefined) return shown;
  }
  return undefined;
}

/** Undefined while no answer to the question counts. @throws LonghaulError `wrong_state` with the answerer, if another one counts */
async function outcomeIn(
  operation: Answered,
  { answers = [], runId }: OperationRecord,
  input: ProvidedInput,
): Promise<AnswerState | undefined> {
  const counted = answers.filter(({ key, state }) => key === input.key && state !== 'refused');
  const own = counted.find(({ id }) => id === input.answerId);
  if (own) return own.state === 'applied' ? 'accepted' : 'queued';
  const [other] = counted;
  if (!other) return undefined;
  const isUnnamed = other.id === undefined && !other.isDefault;
  if (isUnnamed && (await isFirst(operation, runId, input))) return 'accepted';
  throw answeredError(other);
}

function refusedIn({ answers }: OperationRecord, input: ProvidedInput): AnsweredRequest | undefined {
  return answers?.findLast(
    ({ key, id, state }) => key === input.key && id === input.answerId && state === 'refused',
  );
}

/**
 * Whether an answer is the question's first in the history.
 *
 * @param runId Default: the current run
 * @param asked skips answers that don't fit this question. Default: every answer counts
 */
async function isFirst(
  { temporal, workflowId }: Answered,
  runId: string | undefined,
  { key, answerId }: ProvidedInput,
  asked?: InputRequest,
): Promise<boolean> {
  const sent = await sentAnswers(temporal, { workflowId, runId });
  const first = sent.find(
    ({ given }) =>
      given.key === key &&
      (!asked || !('answer' in given) || misfitOf(asked.schema, given.answer) === undefined),
  );
  return first?.given.answerId === answerId;
}

/** The record just after an answer: without the question, though the work may have continued since. */
export function withoutQuestion(record: OperationRecord, key: string): OperationRecord {
  const { [key]: asked, ...inputRequests } = record.inputRequests;
  if (!asked) return record;
  const { statusMessage: _question, ...others } = record;
  const [next] = Object.values(inputRequests);
  return next
    ? { ...others, inputRequests, statusMessage: next.message.split('\n', 1)[0]! }
    : { ...others, inputRequests, status: 'working' };
}

export function closedError({ status }: OperationRecord): LonghaulError {
  return new LonghaulError('wrong_state', `the operation is ${status}`);
}

export function notOpen(key: string): LonghaulError {
  return new LonghaulError('wrong_state', `there is no open input request "${key}"`);
}

export function answeredError({
  key,
  by,
  isDefault,
  at,
}: Pick<AnsweredRequest, 'key' | 'by' | 'isDefault' | 'at'>): LonghaulError {
  const answerer = !by ? '' : 'principal' in by ? ` by ${by.principal}` : ' by an operator';
  const how = isDefault ? ' with its default, since nobody answered in time' : answerer;
  return new LonghaulError(
    'wrong_state',
    `the question ${JSON.stringify(key)} was already answered${how}, at ${at}`,
  );
}

function rejectionError({ cause }: WorkflowUpdateFailedError): LonghaulError {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  const message = cause?.message ?? 'the answer was refused';
  const isKnown = type === 'invalid_answer' || type === 'forbidden';
  return new LonghaulError(isKnown ? type : 'wrong_state', message);
}

/**
 * API for tool authors in workflows (`longhaul/workflow`). An operation's workflow is an ordinary workflow function, exported
 * under the tool's name.
 */
import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { AnswerRules } from '../../operations/answers.js';
import type { Answer, ChildRecord, InputRequest, Progress } from '../../operations/record.js';
import { usableLine, usableProgress } from '../../operations/wire/report.js';
import { INPUT_MEMO_BYTES, INPUT_REQUEST_BYTES, jsonBytes } from '../../operations/wire/state.js';
import {
  assertFlat,
  compilePatterns,
  toJsonSchema,
  type AnySchema,
  type Infer,
  type JsonSchema,
} from '../../operations/tool/schema.js';
import {
  assertInWorkflow,
  changeState,
  cleanups,
  keepAnswer,
  operation,
  questions,
  setProgress,
  state,
  withdrawQuestion,
  type Cleanup,
} from './state.js';

import { warnOfMistake } from './log.js';
import { assertJson, checksValues } from './values.js';

export { log } from './log.js';
export type { Cleanup } from './state.js';

/**
 * Sets the progress of the work; it never decreases. Activities' reports are added to it: call `progress({ total: 30 })` once,
 * and three activities that report ten units each make 30 of 30.
 */
export function progress(next: Partial<Progress>): void {
  const { value, problems } = usableProgress(next, 'progress()');
  problems.forEach(warnOfMistake);
  setProgress(value);
}

/**
 * Sets the size of the work, in the tool's unit (rows, files, bytes). Later calls' durations are estimated from it. Use it when
 * you learn the size only while working; you don't need it if `estimate.per` gives the size.
 */
export function workSize(size: number): void {
  if (!Number.isFinite(size) || size < 0)
    warnOfMistake(`workSize(): expected a number from 0; got ${String(size)}`);
  else if (state().size !== size) changeState({ size });
}

/** Sets the current stage of the work: one short line for people, shown by every protocol and in Temporal's UI. */
export function stage(name: string): void {
  const { value, problems } = usableLine(name, 'stage()');
  problems.forEach(warnOfMistake);
  // In histories of earlier releases, texts with the same beginning are different stages.
  const stage = checksValues() ? value : name;
  if (state().stage !== stage) changeState({ stage });
}

/**
 * Sets the partial result. You can read it while the work runs, and after a cancel, failure or timeout.
 *
 * @throws ApplicationFailure `NotJson` for a value that JSON can't hold
 */
export function partial(value: unknown): void {
  assertJson(value, 'partial()');
  changeState({ partial: value });
}

/**
 * Sets the list of the operation's independent parts. Queries read it, and it is written once, when the operation closes: you
 * can change it in place without adding to the history.
 */
export function children(list: ChildRecord[]): void {
  assertJson(list, 'children()');
  state().children = list;
}

/**
 * Registers a cleanup for when the operation is cancelled, times out or fails. Cleanups start in reverse order and run side by
 * side, so put work that depends on other work in the same cleanup. They are cancelled after the tool's `cleanupSeconds`, less
 * some time for the work to stop.
 */
export function cleanup(work: Cleanup): void {
  assertInWorkflow();
  cleanups.push(work);
}

/** Ten years. */
const LONGEST_WAIT_SECONDS = 10 * 365 * 24 * 3600;

export interface RequestInputOptions<T> {
  /** How long to wait for the answer, in seconds. Default: no limit. */
  timeoutSeconds?: number;
  /** Content of the answer after a timeout; the answer then has `isDefault`. Without it, a timeout fails with type `InputTimeout`. */
  default?: T;
  /** An answer needs a caller with one of these roles. Default: anyone who may see the operation may answer. */
  approvers?: readonly string[];
  /** Bars the principal that started the operation from answering. Default: false. */
  fourEyes?: boolean;
}

/** An answer: content that fits the schema, or a refusal to answer. */
export type InputAnswer<T> =
  | {
      action: 'accept';
      content: T;
      /** Set after a timeout: the content is {@link RequestInputOptions.default}. */
      isDefault?: true;
    }
  | { action: 'decline' };

/**
 * Asks the person (or agent) at the client, and waits. The deadline pauses while only people are awaited. If the client cancels the
 * question, it is asked again under a new key.
 *
 * @param schema of the answer: a flat object, zod or JSON Schema. Name it in the tool's `questions` too, to have it checked when the tool
 *   is defined.
 * @param message the question
 * @throws ApplicationFailure `InputTimeout` when the time is up and there is no default; `BadSchema` for a pattern that can't be matched
 *   in linear time, or one that isn't flat; `BadQuestion` without a text, or for a time that is no number; `BadApprovers`; `too_large`; `UndeclaredQuestion` in a tool that declares that it asks nothing (`questions: {}`)
 */
export async function requestInput<S extends AnySchema>(
  schema: S,
  message: string,
  options: RequestInputOptions<Infer<S>> = {},
): Promise<InputAnswer<Infer<S>>> {
  if (operation().inputWaitSeconds === 0)
    throw ApplicationFailure.nonRetryable(
      'the tool declares with questions: {} that it asks nothing; declare the question, or leave questions out',
      'UndeclaredQuestion',
    );
  const json = questionSchema(schema);
  const rules = rulesOf(options);
  assertQuestion(message, options);
  assertQuestionFits({ message, schema: json, ...rules });
  const until = options.timeoutSeconds === undefined ? undefined : Date.now() + options.timeoutSeconds * 1000;
  for (;;) {
    const inputRequestCount = (state().inputRequestCount ?? 0) + 1;
    const key = `input-${inputRequestCount}`;
    let answer: Answer | undefined;
    questions.set(key, { schema: json, rules, settle: (given) => (answer = given) });
    const expiresAt = until === undefined ? {} : { expiresAt: new Date(until).toISOString() };
    changeState({
      inputRequestCount,
      inputRequests: { ...state().inputRequests, [key]: { message, schema: json, ...expiresAt, ...rules } },
    });
    try {
      const isAnswered = () => answer !== undefined;
      if (until === undefined) await condition(isAnswered);
      else await condition(isAnswered, Math.max(1, until - Date.now()), { summary: `time to answer ${key}` });
    } finally {
      if (questions.has(key)) withdrawQuestion(key);
    }
    if (!answer) {
      if (options.default !== undefined) {
        keepAnswer({ key, action: 'accept', isDefault: true });
        return { action: 'accept', content: options.default, isDefault: true };
      }
      throw ApplicationFailure.nonRetryable(`nobody answered in time: ${message}`, 'InputTimeout');
    }
    if (answer.action === 'decline') return answer;
    if (answer.action === 'accept') return answer as InputAnswer<Infer<S>>;
  }
}

/** @throws ApplicationFailure `BadSchema` */
function questionSchema(schema: AnySchema): JsonSchema {
  try {
    const json = toJsonSchema(schema);
    assertFlat(json, 'requestInput');
    compilePatterns(json, 'requestInput');
    return json;
  } catch (error) {
    throw ApplicationFailure.nonRetryable((error as Error).message, 'BadSchema');
  }
}

/** @throws ApplicationFailure `BadQuestion` */
function assertQuestion(message: unknown, { timeoutSeconds = 0 }: RequestInputOptions<unknown>): void {
  const hasText = typeof message === 'string' && message.trim() !== '';
  const isTime = Math.abs(timeoutSeconds) <= LONGEST_WAIT_SECONDS;
  // A question without text was asked by earlier releases.
  if (isTime && (hasText || !checksValues())) return;
  throw ApplicationFailure.nonRetryable(
    isTime
      ? `requestInput: message: expected the text of the question; got ${JSON.stringify(message) ?? 'nothing'}`
      : `requestInput: timeoutSeconds: expected seconds, at most ${LONGEST_WAIT_SECONDS}; got ${String(timeoutSeconds)}`,
    'BadQuestion',
  );
}

/** Every list carries the open questions. @throws ApplicationFailure `too_large` */
function assertQuestionFits(request: InputRequest): void {
  const bytes = jsonBytes(request);
  const own = Object.entries(state().inputRequests ?? {}).filter(([key]) => isOwnKey(key));
  const together = bytes + jsonBytes(Object.fromEntries(own));
  const [limit, what, size] =
    bytes > INPUT_REQUEST_BYTES
      ? [INPUT_REQUEST_BYTES, 'the question with its schema', bytes]
      : [INPUT_MEMO_BYTES, 'all open questions together', together];
  if (size <= limit) return;
  throw ApplicationFailure.nonRetryable(
    `requestInput: ${what}: expected at most ${limit} bytes as JSON; got ${size}. ` +
      'Shorten the text, and give long content as a partial result or an artifact',
    'too_large',
  );
}

/** Whether this workflow asked, and not one of its parts. */
function isOwnKey(key: string): boolean {
  return !key.includes('/');
}

/** @throws ApplicationFailure `BadApprovers` */
function rulesOf({ approvers, fourEyes }: RequestInputOptions<unknown>): AnswerRules {
  const areNames = approvers?.every((role) => typeof role === 'string' && role !== '') ?? true;
  if (!areNames || approvers?.length === 0)
    throw ApplicationFailure.nonRetryable(
      `requestInput: approvers: expected a list of roles; got ${JSON.stringify(approvers)}`,
      'BadApprovers',
    );
  return { ...(approvers ? { approvers: [...approvers] } : {}), ...(fourEyes ? { fourEyes } : {}) };
}

/** Ends the operation with an error of the caller's protocol instead of a failed result. @param code JSON-RPC error code, e.g. -32603 */
export function protocolError(code: number, message: string): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'longhaul.protocol',
    nonRetryable: true,
    details: [{ code }],
  });
}

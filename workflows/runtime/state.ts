/**
 * State of the operation that this workflow execution is. The authors' API changes it, and the interceptors publish it in memo
 * and search attributes. Module state is per execution: Temporal's sandbox gives each its own modules.
 */
import {
  defaultPayloadConverter,
  inWorkflowContext,
  workflowInfo,
  type ConcludeActivationInput,
} from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType, type Payload } from '@temporalio/common';
import { DEFAULT_CLEANUP_SECONDS } from '../../operations/tool/budgets.js';
import { defined } from '../../operations/json/defined.js';
import { KEPT_ANSWERS, KEPT_REFUSED_ANSWERS, type Answer, type Progress } from '../../operations/record.js';
import type { AnswerRules } from '../../operations/answers.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import {
  ANONYMOUS,
  START_MEMO,
  PART_MEMO,
  SEARCH_ATTRIBUTES,
  tokenOf,
  type StartMemo,
  type PartMemo,
  type ProvidedInput,
} from '../../operations/wire/index.js';
import {
  CHILDREN_MEMO,
  DETAILS_MEMO,
  HOSTS_MEMO,
  INPUT_MEMO,
  PARTIAL_MEMO,
  STATE_MEMO,
  stateFields,
  type KeptAnswer,
  type OperationState,
} from '../../operations/wire/state.js';
import { warnOfMistake } from './log.js';
import { measureClosed, measureFirstProgress } from './measure.js';
import { memoPayloads, type MemoField } from './memo.js';

const STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.status, SearchAttributeType.KEYWORD);

/** Maximum length of the reason of a refused answer, in characters. */
const LONGEST_REASON = 300;

interface OpenQuestion {
  schema: JsonSchema;
  rules: AnswerRules;
  /** @param input the answer as it came, without defaults */
  settle: (answer: Answer, input: ProvidedInput) => void;
}

type Ending = 'completed' | 'canceled' | 'timed_out' | 'failed' | 'continued';

export type Cleanup = (reason: 'canceled' | 'timed_out' | 'failed') => Promise<void>;

export const questions = new Map<string, OpenQuestion>();
/** Key of an answered question -> ID of the accepted answer. */
export const acceptedAnswerIds = new Map<string, string>();
export const cleanups: Cleanup[] = [];

/** Memo that Longhaul starts operations with; undefined in other workflows. */
export function startMemo(): StartMemo | undefined {
  return workflowInfo().memo?.[START_MEMO] as StartMemo | undefined;
}

/** Set in a part: a child workflow of an operation or of another part. */
export function partMemo(): PartMemo | undefined {
  return workflowInfo().memo?.[PART_MEMO] as PartMemo | undefined;
}

/** The operation that this workflow is, or belongs to. */
export function operation(): Omit<PartMemo, 'version' | 'name'> {
  assertInWorkflow();
  const { workflowId } = workflowInfo();
  const part = partMemo();
  if (part) return part;
  const {
    principal,
    tool,
    cleanupSeconds = DEFAULT_CLEANUP_SECONDS,
    ...memo
  }: Partial<StartMemo> = startMemo() ?? {};
  const { inputWaitSeconds, operatorAnswers, signature, traceparent, startRequestId, changedBy, output } =
    memo;
  return {
    ...{ operationId: workflowId, token: tokenOf(principal!, workflowId), tool: tool!, cleanupSeconds },
    ...defined({
      inputWaitSeconds,
      operatorAnswers,
      signature,
      traceparent,
      startRequestId,
      changedBy,
      output,
    }),
    ...(principal === ANONYMOUS ? {} : defined({ principal })),
  };
}

/**
 * Whether the workflow's own code continued an earlier run as new. Temporal also continues runs by itself, with a client's
 * input: by a retry policy, with a higher attempt, or by a cron schedule.
 */
export function isContinued(): boolean {
  const { continuedFromExecutionRunId, attempt, cronSchedule } = workflowInfo();
  return continuedFromExecutionRunId !== undefined && attempt === 1 && !cronSchedule;
}

type Command = ConcludeActivationInput['commands'][number];

let current: OperationState = {};
/** Value of the status attribute; null until it is read. */
let status: string | undefined | null = null;
/** Fields that have changed since the state was last written. */
const unwritten = new Set<MemoField | 'progress'>();
/** JSON of the hosts in the memo. */
let writtenHosts: string | undefined;
let ending: Ending | undefined;
let isProgressHeld = false;
let isOver = false;
let activeWork = 0;

export function state(): OperationState {
  assertInWorkflow();
  return current;
}

/** @throws TypeError in an activity, whose changes would be lost */
export function assertInWorkflow(): void {
  if (inWorkflowContext()) return;
  throw new TypeError(
    'a helper of longhaul/workflow was called outside of a workflow: in an activity, use those of longhaul/activity',
  );
}

/** Takes over the state of the run that this one continues. */
export function continueState(carried: OperationState): void {
  current = { ...carried };
}

/**
 * Changes the state. Changes in one workflow task are written to the memo together, because each write is an event of history. A replay
 * that looks for a difference sets `longhaulStateChanged`, to know who made a write (platform/temporal/internal/replay-trace.ts).
 */
export function changeState(changes: Partial<OperationState>): void {
  (globalThis as { longhaulStateChanged?: () => void }).longhaulStateChanged?.();
  const updatedAt = new Date().toISOString();
  Object.assign(state(), changes, { updatedAt });
  if (changes.inputRequests) {
    if (Object.keys(changes.inputRequests).length === 0) delete current.questionsSince;
    else current.questionsSince ??= updatedAt;
  }
  for (const key of Object.keys(changes) as (keyof OperationState)[])
    unwritten.add(FIELDS[key] ?? STATE_MEMO);
}

/** The memo field that a change has to be written to. Default: the small one. */
const FIELDS: Partial<Record<keyof OperationState, MemoField | 'progress'>> = {
  progress: 'progress',
  inputRequests: INPUT_MEMO,
  answers: DETAILS_MEMO,
  refusedAnswers: DETAILS_MEMO,
  partial: PARTIAL_MEMO,
};

export function withdrawQuestion(key: string): void {
  questions.delete(key);
  const { [key]: _withdrawn, ...inputRequests } = state().inputRequests ?? {};
  changeState({ inputRequests });
}

export function keepAnswer(answer: Omit<KeptAnswer, 'at'>, at = new Date().toISOString()): void {
  const answers = [...(state().answers ?? []), { ...answer, at }];
  changeState({ answers: answers.slice(-KEPT_ANSWERS) });
}

/** Adds to the list of refused answers. It is separate, so refusals don't displace answers that count. */
export function keepRefusedAnswer({ reason = '', ...answer }: Omit<KeptAnswer, 'at'>): void {
  const others = (state().refusedAnswers ?? []).filter(
    ({ key, id }) => key !== answer.key || id !== answer.id,
  );
  const line = reason.split('\n', 1)[0]!.slice(0, LONGEST_REASON);
  const refused = { ...answer, reason: line, at: new Date().toISOString() };
  changeState({ refusedAnswers: [...others, refused].slice(-KEPT_REFUSED_ANSWERS) });
}

/** Moves an answer to the refused ones, because the part that asked didn't take it. */
export function refuseKeptAnswer(key: string, id: string, reason: string): void {
  const answers = state().answers ?? [];
  const kept = answers.find((answer) => answer.key === key && answer.id === id);
  if (!kept) return;
  changeState({ answers: answers.filter((answer) => answer !== kept) });
  keepRefusedAnswer({ ...kept, reason });
}

/** Minimum time in queue that gets its own memo event, in milliseconds. */
const LONG_QUEUE_MS = 1_000;

/** Commands that write what has changed since the last call. Lists read a closed operation's status from Temporal, except a timeout. */
export function commandsOfChanges(): Command[] {
  if (isOver) return [];
  isOver = ending !== undefined;
  if (ending !== undefined) return commandsOfEnding(ending);
  if (unwritten.size === 0 || (isProgressHeld && isOnlyProgress())) return [];
  return [memoCommand(takeUnwritten()), ...statusCommands(questions.size > 0 ? 'input_required' : undefined)];
}

/** A continued run starts with the state, and a completed operation's result holds its progress and replaces the partial result. */
function commandsOfEnding(how: Ending): Command[] {
  if (how === 'continued') return [];
  const isOperation = !partMemo();
  if (how === 'completed' && isOperation) unwritten.delete(PARTIAL_MEMO);
  const isInResult = how === 'completed' && isOperation && isOnlyProgress();
  const { queuedMs = 0, children } = current;
  const isNeeded = (unwritten.size > 0 && !isInResult) || queuedMs >= LONG_QUEUE_MS || children !== undefined;
  const fields: MemoField[] = [...takeUnwritten(), ...(children ? ([CHILDREN_MEMO] as const) : [])];
  return [...(isNeeded ? [memoCommand(fields)] : []), ...(how === 'timed_out' ? statusCommands(how) : [])];
}

function isOnlyProgress(): boolean {
  return [...unwritten].every((field) => field === 'progress');
}

/** Writes fields besides the small one, which has the time of the change. */
function memoCommand(fields: readonly MemoField[]): Command {
  const values = stateFields(current);
  return {
    modifyWorkflowProperties: { upsertedMemo: { fields: memoPayloads(values, [STATE_MEMO, ...fields]) } },
  };
}

/** Fields to write, which then count as written. Details have the texts that were cut, but no activity's report adds a write. */
function takeUnwritten(): MemoField[] {
  const fields = new Set<MemoField>();
  for (const field of unwritten) if (field !== 'progress') fields.add(field);
  const values = stateFields(current);
  const hasNewTexts = unwritten.has(STATE_MEMO) || ending !== undefined;
  if (hasNewTexts && values[DETAILS_MEMO].texts) fields.add(DETAILS_MEMO);
  // They cost no write of their own: the first step in a new workspace has one, for its stage.
  const hosts = JSON.stringify(values[HOSTS_MEMO]);
  if (hosts !== writtenHosts && ending === undefined) fields.add(HOSTS_MEMO);
  writtenHosts = hosts;
  unwritten.clear();
  return [...fields];
}

/** Adds the state to the memo of the run that continues this one. */
export function addStateToMemo(commands: Command[]): void {
  for (const { continueAsNewWorkflowExecution: continued } of commands)
    if (continued) {
      const values = stateFields(continuedState());
      const payloads = memoPayloads(values, [STATE_MEMO, DETAILS_MEMO, PARTIAL_MEMO]);
      continued.memo = { ...continued.memo, ...payloads };
    }
}

/** Sets or removes the status attribute: any other status than these shows in Temporal's own, or is `working`. */
function statusCommands(next: 'input_required' | 'timed_out' | undefined): Command[] {
  // A run that was continued as new starts with the previous run's status.
  if (status === null) status = workflowInfo().typedSearchAttributes.get(STATUS);
  if (next === status) return [];
  status = next;
  if (!startMemo()?.searchAttributes) return [];
  const indexedFields = { [STATUS.name]: keywordPayload(next) };
  return [{ upsertWorkflowSearchAttributes: { searchAttributes: { indexedFields } } }];
}

/** Payload of a keyword. Temporal reads the type from the metadata; a null without a type removes the attribute. */
function keywordPayload(value: string | undefined): Payload {
  const payload = defaultPayloadConverter.toPayload(value ?? null);
  if (value === undefined) return payload;
  return { ...payload, metadata: { ...payload.metadata, type: new TextEncoder().encode('Keyword') } };
}

/** Call it once the work has completed: the progress is written with the result. */
export function holdProgress(): void {
  isProgressHeld = true;
}

/** Ends the run: changes after its last activation are dropped. */
export function endRun(how: Ending): void {
  if (ending === undefined && how !== 'continued') measureClosed(how);
  ending ??= how;
}

export function hasEnded(): boolean {
  return ending !== undefined;
}

/** The state that a run passes on to the one that continues it. */
export function continuedState(): OperationState {
  const { children: _children, questionsSince: _since, inputRequests: _asked, ...carried } = current;
  return carried;
}

/** Sets the workflow's progress; it never decreases. */
export function setProgress(next: Partial<Progress>): void {
  const before = state().progress;
  if (!before) measureFirstProgress();
  const progress = Math.max(before?.progress ?? 0, next.progress ?? 0);
  const total = next.total ?? before?.total;
  if (total !== undefined && progress > total)
    warnOfMistake(`progress goes beyond its total of ${total}: give the total in the unit of the reports`);
  changeState({ progress: { progress, total, message: next.message ?? before?.message } });
}

/** Adds an ended activity's or part's progress. @param isDone if not, the rest of its total counts as unreached */
export function addProgress(reported: Progress, isDone: boolean): void {
  const before = state().progress;
  const { progress, total, message } = reported;
  if (total !== undefined)
    state().unreached = (state().unreached ?? 0) + (isDone ? 0 : Math.max(0, total - progress));
  setProgress({ progress: (before?.progress ?? 0) + progress, message });
}

/** Counts as work, which keeps the deadline running. @returns ends the count; call it once */
export function beginWork(): () => void {
  activeWork += 1;
  return () => {
    activeWork -= 1;
  };
}

/** Whether only people are awaited, which pauses the deadline. */
export function onlyPeopleAwaited(): boolean {
  return questions.size > 0 && activeWork === 0;
}

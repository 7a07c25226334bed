/**
 * Parts: child workflows of an operation or of another part. A part keeps its state in its own memo. It signals its questions,
 * and whether it waits only for people, to its parent, which shows the questions under `{name of the part}/{key}`.
 */
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  proxyLocalActivities,
  setHandler,
  TemporalFailure,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildRecord, ChildStatus, InputRequest, Progress } from '../../operations/record.js';
import { isOpenPart } from '../../operations/record.js';
import {
  CHILD_PROGRESS_ACTIVITY,
  PART_NOTICE_SIGNAL,
  PROVIDE_INPUT_SIGNAL,
  type PartNotice,
  type ProvidedInput,
} from '../../operations/wire/index.js';
import {
  acceptedAnswerIds,
  beginWork,
  changeState,
  addProgress,
  hasEnded,
  keepAnswer,
  onlyPeopleAwaited,
  questions,
  refuseKeptAnswer,
  state,
  withdrawQuestion,
} from './state.js';

/** Maximum number of parts in an operation's list of children: completed ones are dropped first, then failed ones. */
const LISTED_PARTS_LIMIT = 100;
/** Workflow IDs that the SDK generated. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Part {
  readonly workflowId: string;
  readonly record: ChildRecord;
  /** Keys of its open questions, as this workflow shows them. */
  keys: string[];
  /** Stops counting it as work; undefined while it waits only for people. */
  endWork: (() => void) | undefined;
}

const parts = new Map<string, Part>();
const askedNames = new Set<string>();
const listed: ChildRecord[] = [];

/** Name of a new part: its workflow ID without this workflow's prefix, else its type with a number. A name that has asked isn't reused. */
export function partName(workflowId: string, workflowType: string): string {
  const partCount = (state().partCount ?? 0) + 1;
  state().partCount = partCount;
  const own = workflowInfo().workflowId;
  const rest = workflowId.startsWith(own)
    ? workflowId.slice(own.length).replace(/^[^\p{L}\p{N}]+/u, '')
    : workflowId;
  const isTaken = [...parts.values()].some(({ record }) => record.name === rest);
  const isUnusable = rest === '' || isTaken || UUID.test(rest) || hasAsked(rest);
  return isUnusable ? `${workflowType}-${partCount}` : rest;
}

/** Whether a part of this name has asked, in this run or, according to the kept answers, in an earlier one. */
function hasAsked(name: string): boolean {
  return askedNames.has(name) || state().answers?.some(({ key }) => key.startsWith(`${name}/`)) === true;
}

/** Counts a part as work and lists it, until {@link endPart}. */
export function beginPart(workflowId: string, name: string): Part {
  const record: ChildRecord = { name, status: 'working', steps: [] };
  const part: Part = { workflowId, record, keys: [], endWork: beginWork() };
  parts.set(workflowId, part);
  listPart(record);
  return part;
}

/** Lists a part, unless the tool has set its own list of children. */
function listPart(record: ChildRecord): void {
  state().children ??= listed;
  if (state().children !== listed) return;
  if (listed.length >= LISTED_PARTS_LIMIT) {
    const completed = listed.findIndex(({ status }) => status === 'completed');
    const closed = completed >= 0 ? completed : listed.findIndex(({ status }) => !isOpenPart(status));
    if (closed < 0) return;
    listed.splice(closed, 1);
  }
  listed.push(record);
}

/** @param failure of the part; undefined when it completed */
export function endPart(part: Part, failure?: unknown): void {
  part.endWork?.();
  part.endWork = undefined;
  parts.delete(part.workflowId);
  for (const key of part.keys) withdrawQuestion(key);
  part.record.status = failure === undefined ? 'completed' : statusOf(failure);
  if (failure !== undefined) part.record.statusMessage = rootMessageOf(failure);
}

function statusOf(failure: unknown): ChildStatus {
  if (isCancellation(failure)) return 'canceled';
  const isTimeOut = failure instanceof ChildWorkflowFailure && failure.cause instanceof TimeoutFailure;
  return isTimeOut ? 'timed_out' : 'failed';
}

function rootMessageOf(failure: unknown): string {
  let root = failure as Error;
  while (!(root instanceof ApplicationFailure) && root.cause instanceof TemporalFailure) root = root.cause;
  return root.message.split('\n', 1)[0]!;
}

const { [CHILD_PROGRESS_ACTIVITY]: readProgress } = proxyLocalActivities<
  Record<typeof CHILD_PROGRESS_ACTIVITY, (workflowId: string) => Promise<Progress | null>>
>({ startToCloseTimeout: '10s' });

/** Adds the progress of a part that did not complete, because its failure doesn't contain it. */
export async function addProgressOfClosedPart(workflowId: string): Promise<void> {
  const progress = await readProgress(workflowId);
  if (progress) addProgress(progress, false);
}

export function handlePartNotices(): void {
  setHandler(PART_NOTICE_SIGNAL, takeNotice, {
    description: "A part's open questions, and whether it waits only for people.",
  });
}

function takeNotice(notice: PartNotice): void {
  const part = parts.get(notice.workflowId);
  if (!part) return;
  const { record } = part;
  if (notice.onlyPeopleAwaited) {
    part.endWork?.();
    part.endWork = undefined;
  } else part.endWork ??= beginWork();

  const keyInOperation = (key: string) => `${record.name}/${key}`;
  // Leaves out questions that have an answer on its way to the part.
  const open = Object.entries(notice.inputRequests).filter(
    ([key]) => !acceptedAnswerIds.has(keyInOperation(key)),
  );
  const keys = open.map(([key]) => keyInOperation(key));
  for (const key of part.keys) if (!keys.includes(key)) withdrawQuestion(key);
  const asked: Record<string, InputRequest> = {};
  for (const [key, request] of open) {
    if (part.keys.includes(keyInOperation(key))) continue;
    asked[keyInOperation(key)] = request;
    askedNames.add(record.name);
    questions.set(keyInOperation(key), {
      schema: request.schema,
      rules: request,
      settle: (_answer, input) => void forward(part, { ...input, key, isForwarded: true }),
    });
  }
  part.keys = keys;
  for (const { key, answerId, reason } of notice.refused ?? [])
    refuseKeptAnswer(keyInOperation(key), answerId, reason);
  for (const { key, at, ...answer } of notice.defaults ?? []) {
    const isKept = state().answers?.some((kept) => kept.key === keyInOperation(key));
    if (!isKept) keepAnswer({ ...answer, key: keyInOperation(key) }, at);
  }
  record.status = keys.length > 0 ? 'input_required' : 'working';
  if (Object.keys(asked).length > 0) changeState({ inputRequests: { ...state().inputRequests, ...asked } });
}

async function forward(part: Part, input: ProvidedInput): Promise<void> {
  part.keys = part.keys.filter((key) => questions.has(key));
  if (part.keys.length === 0) part.record.status = 'working';
  part.endWork ??= beginWork();
  try {
    await getExternalWorkflowHandle(part.workflowId).signal(PROVIDE_INPUT_SIGNAL, input);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    const { name } = part.record;
    log.warn('a child workflow ended before it got an answer', { part: name, key: input.key });
    if (!hasEnded())
      refuseKeptAnswer(`${name}/${input.key}`, input.answerId, `${name} ended before it got the answer`);
  }
}

/** The state last sent to this part's parent. */
let sent: Omit<PartNotice, 'workflowId' | 'refused'> = { inputRequests: {}, onlyPeopleAwaited: false };
let refused: NonNullable<PartNotice['refused']> = [];

function current(): typeof sent {
  const defaults = state().answers?.filter(({ isDefault }) => isDefault) ?? [];
  return {
    inputRequests: state().inputRequests ?? {},
    ...(defaults.length > 0 ? { defaults } : {}),
    onlyPeopleAwaited: onlyPeopleAwaited(),
  };
}

function isSent(): boolean {
  const now = current();
  const keys = Object.keys(now.inputRequests);
  return (
    now.onlyPeopleAwaited === sent.onlyPeopleAwaited &&
    keys.length === Object.keys(sent.inputRequests).length &&
    keys.every((key) => key in sent.inputRequests)
  );
}

/** Records that the parent has forwarded an answer: it has closed the question and counts this part as work again. */
export function acceptForwardedAnswer(key: string): void {
  const { [key]: _answered, ...inputRequests } = sent.inputRequests;
  sent = { inputRequests, onlyPeopleAwaited: false };
}

/** Records that this part refuses a forwarded answer that its parent has already counted. */
export function refuseForwardedAnswer(key: string, answerId: string, reason: string): void {
  refused.push({ key, answerId, reason });
}

/** Notifies this part's parent of refusals before the part ends. @returns undefined if there are no new ones */
export function notifyOfRefusals(): Promise<void> | undefined {
  return refused.length > 0 ? CancellationScope.nonCancellable(notify) : undefined;
}

/** Notifies this part's parent of changes, until the scope is cancelled. */
export async function notifyParent(): Promise<void> {
  for (;;) {
    await condition(() => !isSent() || refused.length > 0);
    await notify();
  }
}

async function notify(): Promise<void> {
  sent = current();
  const { parent, workflowId } = workflowInfo();
  const notice = { workflowId, ...sent, ...(refused.length > 0 ? { refused } : {}) };
  refused = [];
  try {
    await getExternalWorkflowHandle(parent!.workflowId).signal(PART_NOTICE_SIGNAL, notice);
  } catch (error) {
    // A parent that has ended needs no notice.
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
  }
}

/**
 * Where the state of an operation is in its memo, and how large each field may become. Lists and heartbeats carry the memo, so whatever
 * an author writes, it stays small: texts are cut, and larger values are in storage.
 */
import { defined } from '../json/defined.js';
import {
  isOpenPart,
  type AnsweredRequest,
  type ChildRecord,
  type InputRequest,
  type Progress,
} from '../record.js';
import { isUnreadable } from './unreadable.js';

/** Memo key of the {@link StateMemo}. */
export const STATE_MEMO = 'operation';
/** Memo key of the open input requests, by key. */
export const INPUT_MEMO = 'operation_input';
/** Memo key of the {@link StateDetails}: the value itself, or a {@link StoredClaim}. */
export const DETAILS_MEMO = 'operation_details';
/** Memo key of the partial result: `{ value }`, or a {@link StoredClaim}. */
export const PARTIAL_MEMO = 'operation_partial';
/** Memo key of a closed operation's children: `{ value }`, or a {@link StoredClaim}. */
export const CHILDREN_MEMO = 'operation_children';
/** Memo key of a pipeline's, or a page's, {@link HostsMemo}. */
export const HOSTS_MEMO = 'operation_hosts';

/** Maximum JSON of the {@link StateMemo}, and of each value that isn't in storage. */
export const SMALL_FIELD_BYTES = 2 * 1024;
/** Maximum JSON of an input request, and of those in the memo together. */
export const INPUT_REQUEST_BYTES = 32 * 1024;
export const INPUT_MEMO_BYTES = 128 * 1024;
/** Maximum JSON of the details, and of the partial result, in the memo of a worker without storage. */
export const UNSTORED_BYTES = 32 * 1024;

/** Maximum JSON of a cut text and of the listed keys. Together with the numbers they fit {@link SMALL_FIELD_BYTES}. */
export const LINE_BYTES = 400;
const REASON_BYTES = 300;
const KEYS_BYTES = 300;
/** Maximum JSON of a text in the details: a read of one operation shows it. */
const WHOLE_TEXT_BYTES = 16 * 1024;
/** Ends a text that was cut. */
export const CUT_MARK = '…';

/** The part of the state that every list shows. */
export interface StateMemo {
  stage?: string;
  progress?: Progress;
  /**
   * Units that ended activities announced in their totals but didn't reach. Part of the total while the workflow has set none. Missing
   * until an activity with a total has ended.
   */
  unreached?: number;
  /** Open input requests, of which the oldest keys are named; only while there are any. */
  questions?: { count: number; keys: string[] };
  /** Since when some input request has been open without a break, ISO 8601. Only while one is open. */
  questionsSince?: string;
  /** Number of input requests so far: numbers their keys, so no key is used twice. */
  inputRequestCount?: number;
  /** Number of child workflows started so far: makes part names unique. */
  partCount?: number;
  /** Time spent waiting only for people, in milliseconds. */
  awaitedMs?: number;
  /** {@link awaitedMs} at the start of the current run, if it continues another one. */
  awaitedBeforeMs?: number;
  /** Time in which all work waited for a worker, in milliseconds. */
  queuedMs?: number;
  /** When an operation with a queue got its turn, ISO 8601, and how long it had waited, in milliseconds. */
  turnAt?: string;
  turnWaitedMs?: number;
  /** Size of the work, once the workflow has reported it. */
  size?: number;
  /** Remaining time to the deadline, in milliseconds; passed on by continue-as-new. */
  deadlineRemainingMs?: number;
  /** ISO 8601; set once the runtime has processed the cancel request. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  /** Error of the last failed cleanup, with its place; at most 200 bytes. */
  cleanupFailure?: string;
  updatedAt?: string;
  /** Texts that end with {@link CUT_MARK}. The {@link StateDetails} have them whole. */
  cut?: CutText[];
}

export type CutText = 'stage' | 'message' | 'cancelReason';

/** Answer in the state. `by` is only a claim: readers verify the signature. */
export interface KeptAnswer extends Omit<AnsweredRequest, 'state'> {
  signature?: string;
}

/** Shown only by a read of this operation. */
export interface StateDetails {
  /** The latest answered input requests, oldest first. */
  answers?: KeptAnswer[];
  /** The latest refused answers that came as signals, oldest first. */
  refusedAnswers?: KeptAnswer[];
  /** Texts that the {@link StateMemo} has cut. */
  texts?: Partial<Record<CutText, string>>;
}

/** The whole state: the query's answer, and what a run passes on to the one that continues it. */
export interface OperationState extends Omit<StateMemo, 'questions' | 'cut'>, Omit<StateDetails, 'texts'> {
  inputRequests?: Record<string, InputRequest>;
  partial?: unknown;
  /** Set by workers without storage if the partial result is too large for the memo. The query has it. */
  isPartialLarge?: boolean;
  children?: ChildRecord[];
}

/** Last argument of a run that continues an operation: its state. Removed before the author's code sees the arguments. */
export interface CarriedState {
  longhaul: 'state';
  state: OperationState;
}

export function isCarriedState(value: unknown): value is CarriedState {
  return (value as Partial<CarriedState> | null | undefined)?.longhaul === 'state';
}

/** Reference to a stored value that readers fetch only if they need it. */
export interface StoredClaim {
  longhaul: 'stored';
  key: string;
  /** Size of the value's JSON. */
  bytes: number;
  /** The value before, for as long as this one is on its way to storage. */
  before?: string;
}

export function isStoredClaim(value: unknown): value is StoredClaim {
  return (value as Partial<StoredClaim> | null | undefined)?.longhaul === 'stored';
}

/** The open jobs of a pipeline by host. Lists show it, so finding a host's jobs needs no query. */
export interface HostsMemo {
  /** ID of a host -> names of the open jobs that have their workspace there. */
  jobs: Record<string, string[]>;
  /** Whether there are more jobs than fit {@link SMALL_FIELD_BYTES}. */
  hasMore?: true;
}

/** The state in the fields that the memo gets. Values over {@link SMALL_FIELD_BYTES} belong in storage. */
export interface StateFields {
  [STATE_MEMO]: StateMemo;
  [INPUT_MEMO]: Record<string, InputRequest>;
  [DETAILS_MEMO]: StateDetails;
  [PARTIAL_MEMO]: { value: unknown } | undefined;
  [CHILDREN_MEMO]: { value: ChildRecord[] } | undefined;
  [HOSTS_MEMO]: HostsMemo | undefined;
}

/** Divides the state into bounded fields, for writes while it is open, at the close and at a continue-as-new alike. */
export function stateFields(state: OperationState): StateFields {
  const { inputRequests = {}, answers, refusedAnswers, partial, children, ...rest } = state;
  const { isPartialLarge: _unstored, ...shown } = rest;
  const { stage, progress, cancelReason } = shown;
  const whole = { stage, message: progress?.message, cancelReason };
  const short = {
    stage: cutText(stage, LINE_BYTES),
    message: cutText(progress?.message, LINE_BYTES),
    cancelReason: cutText(cancelReason, REASON_BYTES),
  };
  const cut = (Object.keys(whole) as CutText[]).filter((name) => short[name] !== whole[name]);
  const texts = Object.fromEntries(cut.map((name) => [name, cutText(whole[name], WHOLE_TEXT_BYTES)]));
  const keys = Object.keys(inputRequests);
  return {
    [STATE_MEMO]: defined({
      ...shown,
      stage: short.stage,
      progress: progress && { ...progress, message: short.message },
      cancelReason: short.cancelReason,
      questions: keys.length > 0 ? { count: keys.length, keys: firstThatFit(keys, KEYS_BYTES) } : undefined,
      cut: cut.length > 0 ? cut : undefined,
    }),
    [INPUT_MEMO]: Object.fromEntries(firstThatFit(Object.entries(inputRequests), INPUT_MEMO_BYTES)),
    [DETAILS_MEMO]: defined({ answers, refusedAnswers, texts: cut.length > 0 ? texts : undefined }),
    [PARTIAL_MEMO]: partial === undefined ? undefined : { value: partial },
    [CHILDREN_MEMO]: children && { value: children },
    [HOSTS_MEMO]: hostsMemo(children),
  };
}

/** Undefined until a job has a workspace. */
function hostsMemo(children: ChildRecord[] = []): HostsMemo | undefined {
  const hosted = children.filter(({ host }) => host !== undefined);
  if (hosted.length === 0) return undefined;
  const jobs: HostsMemo['jobs'] = {};
  let bytes = jsonBytes({ jobs, hasMore: true });
  for (const { host = '', name, status } of hosted) {
    if (!isOpenPart(status)) continue;
    bytes += jsonBytes(name) + 1 + (jobs[host] ? 0 : jsonBytes(host) + 4);
    if (bytes > SMALL_FIELD_BYTES) return { jobs, hasMore: true };
    (jobs[host] ??= []).push(name);
  }
  return { jobs };
}

/** Size of a value as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value) ?? '';
  let bytes = json.length;
  // Lone surrogates are escaped, so two units over U+07FF make either one character of 3 bytes each, or 4 bytes together.
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** The beginning of a text that fits, with {@link CUT_MARK}; the text itself if it is short enough. */
export function cutText(text: string, limitBytes: number): string;
export function cutText(text: string | undefined, limitBytes: number): string | undefined;
export function cutText(text: string | undefined, limitBytes: number): string | undefined {
  if (text === undefined || (text.length <= limitBytes && jsonBytes(text) <= limitBytes)) return text;
  let bytes = jsonBytes(CUT_MARK);
  let end = 0;
  for (const character of text) {
    bytes += jsonBytes(character) - 2;
    if (bytes > limitBytes) break;
    end += character.length;
  }
  return `${text.slice(0, end)}${CUT_MARK}`;
}

/** The longest beginning of a list that fits as JSON. */
export function firstThatFit<Item>(items: Item[], limitBytes: number): Item[] {
  let bytes = 2;
  const end = items.findIndex((item) => (bytes += jsonBytes(item) + 1) > limitBytes);
  return end < 0 ? items : items.slice(0, end);
}

/** The state as far as a memo shows it. */
export interface PublishedState extends StateMemo, StateDetails {
  inputRequests?: Record<string, InputRequest>;
  partial?: unknown;
  children?: ChildRecord[];
  isPartialLarge?: boolean;
  /** The values that are in storage. */
  claims?: Claims;
}

export type StoredField = typeof DETAILS_MEMO | typeof PARTIAL_MEMO | typeof CHILDREN_MEMO;
type Claims = Partial<Record<StoredField, StoredClaim>>;

/** Reads the state in a memo, without unreadable fields; undefined if the workflow hasn't published any. */
export function publishedState(memo: Record<string, unknown> | undefined): PublishedState | undefined {
  if (!memo?.[STATE_MEMO]) return undefined;
  const readable = (field: string) => (isUnreadable(memo[field]) ? undefined : memo[field]);
  const published: PublishedState = {
    ...(readable(STATE_MEMO) as StateMemo | undefined),
    inputRequests: readable(INPUT_MEMO) as PublishedState['inputRequests'],
  };
  for (const field of [DETAILS_MEMO, PARTIAL_MEMO, CHILDREN_MEMO] as const) {
    const value = readable(field);
    if (isStoredClaim(value)) published.claims = { ...published.claims, [field]: value };
    else if (value != null) Object.assign(published, fieldValue(field, value));
  }
  return published;
}

/** The state that a memo field's value holds, inline or from storage. */
export function fieldValue(
  field: StoredField,
  value: unknown,
): Pick<PublishedState, 'partial' | 'isPartialLarge' | 'children'> & StateDetails {
  switch (field) {
    case DETAILS_MEMO:
      return value as StateDetails;
    case PARTIAL_MEMO: {
      const { value: partial, isTooLarge } = value as { value?: unknown; isTooLarge?: boolean };
      return isTooLarge ? { isPartialLarge: true } : { partial };
    }
    case CHILDREN_MEMO:
      return { children: (value as { value: ChildRecord[] }).value };
  }
}

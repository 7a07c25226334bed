/** Record of an operation: the only representation of its state, which every protocol renders. */
import type { OperationError } from './errors.js';
import type { JsonSchema } from './schema.js';

export type OperationStatus =
  | 'submitted'
  | 'working'
  | 'input_required'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'timed_out'
  | 'expired'
  /** Only if the record can't be read. */
  | 'unknown';

const TERMINAL: ReadonlySet<OperationStatus> = new Set([
  'completed',
  'failed',
  'canceled',
  'timed_out',
  'expired',
]);

/** Whether a status is final within an attempt. */
export function isTerminal(status: OperationStatus): boolean {
  return TERMINAL.has(status);
}

/** Progress of the work, in the tool's own units. It never decreases. */
export interface Progress {
  progress: number;
  total?: number;
  /** Human-readable, one short line. */
  message?: string;
}

/** Question that an operation waits for. */
export interface InputRequest {
  message: string;
  /** Flat JSON Schema of the answer. */
  schema: JsonSchema;
  /** ISO 8601; when the operation continues without an answer. */
  expiresAt?: string;
  /** Roles of which a caller needs one to answer. Default: anyone who may see the operation may answer. */
  approvers?: string[];
  /** Set if the principal that started the operation may not answer. */
  fourEyes?: true;
}

/** Who answered: a caller of the server, or an operator, with Temporal's own commands or the home's secret. */
export type Answerer = { principal: string; roles?: string[] } | { operator: true };

/** Answer to an input request: MCP's three actions (specs: 2026-07-28 client/elicitation). */
export type Answer =
  { action: 'accept'; content: Record<string, unknown> } | { action: 'decline' } | { action: 'cancel' };

/** Answer to an input request, and what became of it. */
export interface AnsweredRequest {
  key: string;
  /**
   * Names the answer: the same one again has the same ID. Missing for defaults, and where the operation's worker doesn't keep it.
   */
  id?: string;
  action: Answer['action'];
  /** `queued`: no worker has taken it yet. At most one answer to a key isn't refused. */
  state: 'applied' | 'refused' | 'queued';
  /** Why it was refused, in one line. */
  reason?: string;
  /** Set if nobody answered in time and the workflow's default was used. */
  isDefault?: true;
  /** Who answered, verified. Missing for callers without authentication. */
  by?: Answerer;
  /** ISO 8601, UTC. */
  at: string;
}

/** Number of the latest answered input requests that a record keeps. */
export const KEPT_ANSWERS = 20;

/** Number of the latest refused answers that a record keeps beside them. */
export const KEPT_REFUSED_ANSWERS = 10;

export type ChildStatus =
  'pending' | 'working' | 'input_required' | 'completed' | 'failed' | 'canceled' | 'timed_out' | 'skipped';

const OPEN_PARTS: ReadonlySet<ChildStatus> = new Set(['pending', 'working', 'input_required']);

/** Whether a part with this status can still change. */
export function isOpenPart(status: ChildStatus): boolean {
  return OPEN_PARTS.has(status);
}

/**
 * Part of an operation that runs independently: a child workflow, a job of a pipeline, or one item of a job that runs for
 * each item of a list.
 */
export interface ChildRecord {
  /** E.g. `build`; with the item's position, `test[3]`. */
  name: string;
  status: ChildStatus;
  /** Human-readable, one short line: why it failed, or its current wait. */
  statusMessage?: string;
  /** Item that it runs for. */
  item?: unknown;
  steps: StepRecord[];
  /** Outputs by name. */
  outputs?: Record<string, string>;
  /** Files that it left in storage. */
  artifacts?: ArtifactRecord[];
  /** Files that it could not leave there. */
  unsavedArtifacts?: UnsavedArtifact[];
  /** Fields of its answered approvals. */
  approval?: Record<string, unknown>;
  /** Set for a page: what all approvals of its items were given for, as in {@link StepRecord}. */
  approvedFor?: string;
  /** Host that it runs on. */
  host?: string;
  /** Set for a page: a range of a job's items, whose records its own workflow has. */
  page?: PageRange;
}

/** A file in storage, or an empty folder, which has no bytes. */
export interface ArtifactRecord {
  /** Name among the operation's artifacts; ends with `/` for a folder. */
  name: string;
  /** Path relative to the workspace, with `/`. */
  path: string;
  bytes: number;
  /** Workflow ID of the operation that it belongs to. */
  workflowId: string;
  /** Whether its owner may execute it. */
  isExecutable?: true;
  isFolder?: true;
}

/** A file that could not be saved. */
export interface UnsavedArtifact {
  /** Path relative to the workspace, or the pattern. */
  path: string;
  /** In one line. */
  reason: string;
}

/** A range of the items of a job that runs for each item of a list. */
export interface PageRange {
  /** Its workflow's ID; missing while it hasn't started. */
  workflowId?: string;
  job: string;
  /** Position of the first item, from 0. */
  from: number;
  count: number;
}

export interface StepRecord {
  name: string;
  status: ChildStatus;
  exitCode?: number;
  /** ISO 8601, UTC. */
  startedAt?: string;
  closedAt?: string;
  /** Workflow ID of the operation that holds the step's log, if the step ran in an earlier one. */
  logsOf?: string;
  /** Digest of the pipeline and the inputs that its approval was given for; missing while there is none. */
  approvedFor?: string;
}

export interface OperationRecord {
  /** Name of the operation for its callers. */
  token: string;
  /** Run ID of the Temporal workflow that the record was read from. */
  runId: string;
  tool: string;
  principal: string;
  /** ISO 8601, UTC, as all times by Temporal's clock. */
  createdAt: string;
  updatedAt: string;
  closedAt?: string;
  /** When it was read, while it is open. Default: {@link updatedAt}. */
  readAt?: string;
  status: OperationStatus;
  /** ISO 8601; set once Temporal has accepted a cancel request: from then on the operation can only end canceled. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  /** Human-readable, one short line. */
  statusMessage?: string;
  stage?: string;
  progress?: Progress;
  inputRequests: Record<string, InputRequest>;
  /**
   * The latest {@link KEPT_ANSWERS} answered input requests, the latest {@link KEPT_REFUSED_ANSWERS} answers that were refused after
   * they had been queued, and the queued ones; oldest first.
   */
  answers?: AnsweredRequest[];
  /** Partial result; kept after cancel, failure and time-out. */
  partial?: unknown;
  /** Set if there is a partial result that is too large for a record that isn't read live. */
  isPartialLarge?: true;
  /** Parts; complete if the record was read live or is closed. */
  children?: ChildRecord[];
  /** Set if there are too many children for a record that isn't read live; once it is closed, they are in storage. */
  areChildrenLarge?: true;
  result?: unknown;
  /**
   * Why its result, failure or partial result can't be read: `unavailable` while storage is away, `internal` once it is lost. The same
   * error refuses a read of the value.
   */
  resultProblem?: OperationError;
  error?: OperationError;
  /** Its run in Temporal's UI, if it failed or timed out and callers may see the address. */
  temporalUrl?: string;
  estimateSeconds?: number;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  attempt: number;
  resumedFrom?: string;
  /** Principals that changed arguments in a resume, of this operation or of those that it continues. */
  changedBy?: string[];
  /** ID of the trace of the request that started it, 32 hexadecimal digits; missing if that belonged to none. */
  traceId?: string;
  /** Progress token for notifications of its progress, given at its start. */
  progressToken?: string | number;
  /** ID of the call that started it, if cancelling the call cancels the work. */
  requestId?: string | number;
  /** Whether large values and children were read too: from the workflow, by a query, or once it is closed from storage. */
  live: boolean;
}

/** Time from an operation's creation to the reading of its record, in seconds, by one clock. */
export function ageSeconds({
  createdAt,
  updatedAt,
  readAt = updatedAt,
}: Pick<OperationRecord, 'createdAt' | 'updatedAt' | 'readAt'>): number {
  return Math.max(0, Date.parse(readAt) - Date.parse(createdAt)) / 1000;
}

/** Sums the workflow's own progress and the reports that it doesn't include yet. */
export function mergeProgress(
  { progress: own, unreached }: { progress?: Progress; unreached?: number },
  reports: Progress[],
): Progress | undefined {
  if (!own && reports.length === 0) return undefined;
  const total = own?.total ?? totalOf(own?.progress ?? 0, unreached, reports);
  const message = reports.findLast((report) => report.message)?.message ?? own?.message;
  return {
    progress: (own?.progress ?? 0) + sum(reports.map((report) => report.progress)),
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  };
}

/** Sum of the announced totals; undefined unless every report has one. */
function totalOf(done: number, unreached: number | undefined, reports: Progress[]): number | undefined {
  const totals = reports.map(({ total }) => total);
  if (!totals.every((one) => one !== undefined)) return undefined;
  return totals.length === 0 && unreached === undefined ? undefined : done + (unreached ?? 0) + sum(totals);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** An operation in a list, from the data in the visibility store. */
export interface ListedOperation {
  /** Its workflow ID, if it is another principal's. */
  token: string;
  /** Principal that owns it, if that is another one of the tenant. */
  owner?: string;
  tool: string;
  status: OperationStatus;
  stage?: string;
  createdAt: string;
  closedAt?: string;
  /** Estimated duration at its start, in seconds. */
  estimateSeconds?: number;
  /** Duration once it is closed, without people's time to answer, in seconds. */
  workedSeconds?: number;
  /** ISO 8601; set once its workflow has processed the cancel request. */
  cancelRequestedAt?: string;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  /** ID of the call that started it, if cancelling the call cancels the work. */
  requestId?: string | number;
}

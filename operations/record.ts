/** Record of an operation: the only representation of its state, for every protocol. */
import type { OperationError } from './errors.js';
import type { JsonSchema } from './tool/schema.js';

export type OperationStatus =
  | 'submitted'
  | 'working'
  | 'input_required'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'timed_out'
  | 'expired'
  | 'unknown';

const TERMINAL: ReadonlySet<OperationStatus> = new Set([
  'completed',
  'failed',
  'canceled',
  'timed_out',
  'expired',
]);

export function isTerminal(status: OperationStatus): boolean {
  return TERMINAL.has(status);
}

/** Progress in the tool's own units. It never decreases. */
export interface Progress {
  progress: number;
  total?: number;
  /** For people, one short line. */
  message?: string;
}

export interface InputRequest {
  message: string;
  /** Flat JSON Schema of the answer. */
  schema: JsonSchema;
  /** When the operation continues without an answer, ISO 8601. */
  expiresAt?: string;
  /** A caller needs one of these roles to answer. Default: anyone who may see the operation may answer. */
  approvers?: string[];
  /** Set if the principal that started the operation may not answer. */
  fourEyes?: true;
}

/** Who answered: a caller of the server, or an operator with Temporal's own commands or the home's secret. */
export type Answerer = { principal: string; roles?: string[] } | { operator: true };

/** Answer to an input request: MCP's three actions (specs: 2026-07-28 client/elicitation). */
export type Answer =
  { action: 'accept'; content: Record<string, unknown> } | { action: 'decline' } | { action: 'cancel' };

export interface AnsweredRequest {
  key: string;
  /** Repeating an answer keeps its ID. Missing for defaults, and if the operation's worker doesn't keep it. */
  id?: string;
  action: Answer['action'];
  /** `queued`: no worker has taken it yet. At most one answer to a key isn't refused. */
  state: 'applied' | 'refused' | 'queued';
  reason?: string;
  /** Set if nobody answered in time, so the workflow used its default. */
  isDefault?: true;
  /** Verified answerer. Missing for callers without authentication. */
  by?: Answerer;
  /** ISO 8601, UTC. */
  at: string;
}

/** Number of answered input requests that a record keeps: the latest. */
export const KEPT_ANSWERS = 20;

/** Number of refused answers that a record keeps besides: the latest. */
export const KEPT_REFUSED_ANSWERS = 10;

export type ChildStatus =
  'pending' | 'working' | 'input_required' | 'completed' | 'failed' | 'canceled' | 'timed_out' | 'skipped';

const OPEN_PARTS: ReadonlySet<ChildStatus> = new Set(['pending', 'working', 'input_required']);

/** Whether a part with this status can still change. */
export function isOpenPart(status: ChildStatus): boolean {
  return OPEN_PARTS.has(status);
}

/** An independent part of an operation: a child workflow, a pipeline's job, or one item of a `for-each` job. */
export interface ChildRecord {
  /** E.g. `build`, or `test[3]` with the item's position. */
  name: string;
  status: ChildStatus;
  /** For people, one short line: why it failed, or its current wait. */
  statusMessage?: string;
  item?: unknown;
  steps: StepRecord[];
  outputs?: Record<string, string>;
  /** Files that it left in storage. */
  artifacts?: ArtifactRecord[];
  /** Files that it couldn't save. */
  unsavedArtifacts?: UnsavedArtifact[];
  /** Fields of its answered approvals. */
  approval?: Record<string, unknown>;
  /** Set for a page: what its items' approvals were given for, as in {@link StepRecord}. */
  approvedFor?: string;
  host?: string;
  /** Set for a page: a range of a job's items. Its own workflow has their records. */
  page?: PageRange;
}

/** Address of an operation's artifact: a resource of MCP, and a link in results. */
export function artifactUri(token: string, name: string): string {
  return `longhaul://operations/${encodeURIComponent(token)}/artifacts/${encodeURIComponent(name)}`;
}

/** A file in storage, or an empty folder without bytes. */
export interface ArtifactRecord {
  /** Name among the operation's artifacts; ends with `/` for a folder. */
  name: string;
  /** Path relative to the workspace, with `/`. */
  path: string;
  bytes: number;
  workflowId: string;
  /** Whether its owner may execute it. */
  isExecutable?: true;
  isFolder?: true;
}

export interface UnsavedArtifact {
  /** Path relative to the workspace, or the pattern. */
  path: string;
  reason: string;
}

/** A range of the items of a `for-each` job. */
export interface PageRange {
  /** Its workflow's ID; missing until it starts. */
  workflowId?: string;
  job: string;
  /** From 0. */
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
  /** Workflow ID of the earlier operation that ran the step and holds its log. */
  logsOf?: string;
  /** Digest of the pipeline and inputs that the approval was given for, if any. */
  approvedFor?: string;
}

export interface OperationRecord {
  /** Name of the operation for its callers. */
  token: string;
  runId: string;
  tool: string;
  principal: string;
  /** ISO 8601, UTC, by Temporal's clock, like all times here. */
  createdAt: string;
  updatedAt: string;
  closedAt?: string;
  /** When an open operation's record was read. Default: {@link updatedAt}. */
  readAt?: string;
  status: OperationStatus;
  /** ISO 8601; set once Temporal has accepted a cancel request. From then on the operation can only end canceled. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  /** For people, one short line. */
  statusMessage?: string;
  stage?: string;
  progress?: Progress;
  inputRequests: Record<string, InputRequest>;
  /** Set if its tool declared at the start that it asks nothing. */
  asksNothing?: true;
  /**
   * The latest {@link KEPT_ANSWERS} answered input requests, the latest {@link KEPT_REFUSED_ANSWERS} answers that were refused after
   * queueing, and the queued ones; oldest first.
   */
  answers?: AnsweredRequest[];
  /** Kept after cancel, failure and time-out. */
  partial?: unknown;
  /** Set if a partial result is too large for a record that isn't read live. */
  isPartialLarge?: true;
  /** Parts; complete if the record was read live or is closed. */
  children?: ChildRecord[];
  /** Set if there are too many children for a record that isn't read live. A closed operation has them in storage. */
  areChildrenLarge?: true;
  result?: unknown;
  /** The first problem of a result with the tool's current output, if the output at its start can't be known any more. */
  resultNote?: string;
  /**
   * Why its result, failure or partial result can't be read: `unavailable` while storage is away, `internal` once it's lost. A read of the
   * value fails with this error.
   */
  resultProblem?: OperationError;
  error?: OperationError;
  /** Parts of its memo that can't be read, in one line. The status message ends with it. */
  problem?: string;
  /** A failed or timed-out run in Temporal's UI, if callers may see the address. */
  temporalUrl?: string;
  estimateSeconds?: number;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  attempt: number;
  resumedFrom?: string;
  /** Principals that changed arguments in a resume, of this operation or the ones that it continues. */
  changedBy?: string[];
  /** Trace ID of the request that started it, 32 hexadecimal digits; missing without a trace. */
  traceId?: string;
  /** Progress token from its start, for notifications. */
  progressToken?: string | number;
  /** ID of the call that started it, if cancelling the call cancels the work. */
  requestId?: string | number;
  /** Whether large values and children were read too: by a query of the workflow, or from storage once it's closed. */
  live: boolean;
}

/** Time from creation to the read of the record, in seconds, by one clock. */
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
  const progress = (own?.progress ?? 0) + sum(reports.map((report) => report.progress));
  const announced = own?.total ?? totalOf(own?.progress ?? 0, unreached, reports);
  // Parts may report more than the workflow has announced.
  const total = announced === undefined ? undefined : Math.max(announced, progress);
  const message = reports.findLast((report) => report.message)?.message ?? own?.message;
  return { progress, total, message };
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

/** An operation in a list, with data of the visibility store. */
export interface ListedOperation {
  /** The workflow ID, if another principal owns the operation. */
  token: string;
  /** Its principal, if that is another one of the tenant. */
  owner?: string;
  tool: string;
  status: OperationStatus;
  stage?: string;
  createdAt: string;
  closedAt?: string;
  estimateSeconds?: number;
  /** Duration once closed, without time for answers, in seconds. */
  workedSeconds?: number;
  /** ISO 8601; set once its workflow has processed the cancel request. */
  cancelRequestedAt?: string;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  /** ID of the call that started it, if cancelling the call cancels the work. */
  requestId?: string | number;
  /** Parts of its memo that can't be read, in one line. The other fields come from elsewhere. */
  problem?: string;
}

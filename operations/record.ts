/** The one record of an operation. Every face renders it; none keeps its own. */
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
  /** Only for a record that can't be read. */
  | 'unknown';

const TERMINAL: ReadonlySet<OperationStatus> = new Set([
  'completed',
  'failed',
  'canceled',
  'timed_out',
  'expired',
]);

/** Is this status final within an attempt? */
export function isTerminal(status: OperationStatus): boolean {
  return TERMINAL.has(status);
}

/** How far the work is, in the tool's own units. It never goes back. */
export interface Progress {
  progress: number;
  total?: number;
  /** One short line for people. */
  message?: string;
}

/** A question that the operation waits for. */
export interface InputRequest {
  message: string;
  /** Flat JSON Schema of the answer. */
  schema: JsonSchema;
  /** ISO 8601; when the operation goes on without an answer. */
  expiresAt?: string;
}

/** An answer to an input request: MCP's three actions (specs: 2026-07-28 client/elicitation). */
export type Answer =
  { action: 'accept'; content: Record<string, unknown> } | { action: 'decline' } | { action: 'cancel' };

/** An input request that is answered. */
export interface AnsweredRequest {
  key: string;
  action: Answer['action'];
  /** Nobody answered in time: the default that the workflow had given was taken. */
  isDefault?: true;
  /** ISO 8601, UTC. */
  at: string;
}

/** Number of answered input requests that a record keeps, the latest. */
export const KEPT_ANSWERS = 20;

export type ChildStatus =
  'pending' | 'working' | 'input_required' | 'completed' | 'failed' | 'canceled' | 'timed_out' | 'skipped';

const OPEN_PARTS: ReadonlySet<ChildStatus> = new Set(['pending', 'working', 'input_required']);

/** Can a part with this status still change? */
export function isOpenPart(status: ChildStatus): boolean {
  return OPEN_PARTS.has(status);
}

/**
 * A part of an operation that runs for itself: a child workflow, a job of a pipeline, or one item of a job that runs for
 * each.
 */
export interface ChildRecord {
  /** `build`; with the item's position, `test[3]`. */
  name: string;
  status: ChildStatus;
  /** One short line for people: why it failed, what it waits for. */
  statusMessage?: string;
  /** The item that it runs for. */
  item?: unknown;
  steps: StepRecord[];
  /** Its outputs by name. */
  outputs?: Record<string, string>;
  /** Files that it left. */
  artifacts?: { name: string; path: string; bytes: number; workflowId: string }[];
  /** What its approvals were filled in with. */
  approval?: Record<string, unknown>;
  /** Where it runs. */
  host?: string;
}

export interface StepRecord {
  name: string;
  status: ChildStatus;
  exitCode?: number;
  /** ISO 8601, UTC. */
  startedAt?: string;
  closedAt?: string;
  /** Workflow ID of the operation whose log this step's is, when it ran in an earlier one. */
  logsOf?: string;
}

export interface OperationRecord {
  /** What callers know the operation by. */
  token: string;
  /** Run of the Temporal workflow that this was read from. */
  runId: string;
  tool: string;
  principal: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
  closedAt?: string;
  status: OperationStatus;
  /** Set once Temporal has taken a cancel: from then on the operation can only end canceled. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  /** One short line for people. */
  statusMessage?: string;
  stage?: string;
  progress?: Progress;
  inputRequests: Record<string, InputRequest>;
  /** The latest {@link KEPT_ANSWERS} answered ones, in their order. */
  answers?: AnsweredRequest[];
  /** What is finished so far; kept after cancel, failure and time-out. */
  partial?: unknown;
  /** Parts that run for themselves, when the record was read live or is closed. */
  children?: ChildRecord[];
  /** There are children, but too many for a record that isn't read live. */
  areChildrenLarge?: true;
  result?: unknown;
  error?: OperationError;
  estimateSeconds?: number;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  attempt: number;
  resumedFrom?: string;
  /** What its starter wants notifications of its progress to be marked with. */
  progressToken?: string | number;
  /** ID of the call that started it, where cancelling the call cancels the work. */
  requestId?: string | number;
  /** Answers that were taken but that no worker has processed yet. False: read without a worker. */
  live: boolean;
}

/** The workflow's own progress plus what activities report that aren't part of it yet. */
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

/** What activities announce, as long as each of them does. */
function totalOf(done: number, unreached: number | undefined, reports: Progress[]): number | undefined {
  const totals = reports.map(({ total }) => total);
  if (!totals.every((one) => one !== undefined)) return undefined;
  return totals.length === 0 && unreached === undefined ? undefined : done + (unreached ?? 0) + sum(totals);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

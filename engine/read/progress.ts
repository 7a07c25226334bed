/**
 * Progress of an operation. Its value and time of last change never decrease, for any reader on any server. An activity's closing event
 * holds its last report, which counts until the workflow has added it. A cancel request holds the progress at its time.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '../../platform/temporal/internal/payloads.js';
import proto from '@temporalio/proto';
import { LRUCache } from 'lru-cache';
import { mergeProgress, type Progress } from '../../operations/record.js';
import { reportIn, reportInFailure, reportInResult } from '../../operations/wire/report.js';
import type { StateMemo } from '../../operations/wire/state.js';
import {
  type Reached,
  decodeReadable,
  eventsFromEnd,
  toDate,
  INITIAL_EVENTS,
  type HistoryEvent,
} from './history.js';
import { readPart, type Part } from './parts.js';
import type { TemporalClient } from '../temporal/client.js';

const { EventType, PendingWorkflowTaskState } = proto.temporal.api.enums.v1;

const MAX_PAGES = 5;
const CLOSED_PARTS_LIMIT = 50;
/** Maximum number of runs to remember the highest progress of. */
const REMEMBERED_RUNS = 5_000;

export interface ProgressReading {
  /** Missing if there is none, or if an incomplete read would make it too low. */
  progress?: Progress;
  /** ISO 8601, UTC. */
  updatedAt: string;
}

/** Reads progress, and remembers the highest value of each run. */
export class ProgressReader {
  readonly #highest = new LRUCache<string, ProgressReading>({ max: REMEMBERED_RUNS });
  readonly #partReadings = new WeakMap<Part, Promise<ProgressReading>>();

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Reads an operation's progress from its description, and from the end of its history while events wait for a worker.
   *
   * @param updatedAt ISO 8601; last change of the rest of its state
   * @param parts its open child workflows
   * @param reached its progress at the cancel request, which is the least to report
   */
  async read(
    description: WorkflowExecutionDescription,
    state: StateMemo,
    updatedAt: string,
    parts: Part[] = [],
    reached?: Reached,
  ): Promise<ProgressReading> {
    const { temporal } = this;
    const { raw, runId } = description;
    const running = await Promise.all(
      (raw.pendingActivities ?? []).map(async ({ heartbeatDetails, lastHeartbeatTime }) => {
        const [details] = await decodeReadable(temporal, heartbeatDetails?.payloads);
        return { progress: reportIn(details), time: lastHeartbeatTime };
      }),
    );
    const { closed, closedParts, isIncomplete } = await unprocessedReports(temporal, description);
    const reports = [...closed, ...running].filter(({ progress }) => progress !== undefined);
    const partial = await Promise.all([...closedParts, ...parts].map((part) => this.readPart(part)));
    const current = mergeProgress(
      state,
      [...reports, ...partial].flatMap((report) => report.progress ?? []),
    );
    const isBehind = reached && !(current && roundProgress(current).progress >= reached.progress);
    const progress = isBehind ? { ...current, ...reached } : current;
    const times = [
      ...reports.map(({ time }) => (time ? toDate(time).toISOString() : updatedAt)),
      ...partial.map((reading) => reading.updatedAt),
    ];
    return this.#monotonic(runId, {
      ...(progress && !isIncomplete ? { progress: roundProgress(progress) } : {}),
      updatedAt: [updatedAt, ...times].sort().at(-1)!,
    });
  }

  /** Reads a part's progress; cached by the part object. */
  readPart(part: Part): Promise<ProgressReading> {
    const { description, state, parts } = part;
    const known = this.#partReadings.get(part);
    if (known) return known;
    const updatedAt = state.updatedAt ?? description.startTime.toISOString();
    const reading = this.read(description, state, updatedAt, parts);
    this.#partReadings.set(part, reading);
    return reading;
  }

  /** The higher of current and previous values: concurrent reads may answer out of order, and clocks may be set back. */
  #monotonic(runId: string, now: ProgressReading): ProgressReading {
    const before = this.#highest.get(runId);
    const isBehind = before?.progress && !(now.progress && now.progress.progress >= before.progress.progress);
    const progress = isBehind ? before.progress : now.progress;
    const updatedAt = before && before.updatedAt > now.updatedAt ? before.updatedAt : now.updatedAt;
    const reading = { ...(progress ? { progress } : {}), updatedAt };
    this.#highest.set(runId, reading);
    return reading;
  }
}

interface ClosedReport {
  progress: Progress | undefined;
  time: HistoryEvent['eventTime'];
}

interface UnprocessedReports {
  /** Reports of activities that have closed since the last workflow task. */
  closed: ClosedReport[];
  /** Child workflows that have closed since then. */
  closedParts: Part[];
  /** Whether a closed activity's outcome is missing: Temporal buffers it until the running workflow task ends. */
  isIncomplete: boolean;
}

async function unprocessedReports(
  temporal: TemporalClient,
  { raw, runId, workflowId, historyLength, status }: WorkflowExecutionDescription,
): Promise<UnprocessedReports> {
  const { pendingWorkflowTask: task } = raw;
  const wasCutOff = status.name === 'TERMINATED' || status.name === 'TIMED_OUT';
  if (historyLength <= INITIAL_EVENTS || (!task && !wasCutOff))
    return { closed: [], closedParts: [], isIncomplete: false };
  // Temporal buffers events during a workflow task. A killed worker's task lasts until its time-out.
  const isBuffered =
    wasCutOff || task?.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED;
  const pending = new Set((raw.pendingActivities ?? []).map(({ activityId }) => activityId));
  /** Scheduled event ID -> the activity's closing event. */
  const closing = new Map<string, HistoryEvent>();
  const unprocessed: HistoryEvent[] = [];
  const children = new ClosedChildren(raw);
  let isProcessed = false;
  let isIncomplete = false;
  search: for await (const event of eventsFromEnd(temporal, { workflowId, runId }, MAX_PAGES)) {
    const isInDescription = Number(event.eventId) <= historyLength;
    if (isInDescription) children.add(event, isProcessed);
    const scheduledEventId = scheduledEventOf(event);
    if (scheduledEventId !== undefined) {
      closing.set(scheduledEventId, event);
      if (!isProcessed && isInDescription) unprocessed.push(event);
    }
    switch (event.eventType) {
      case EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
        isProcessed ||= isInDescription;
        if (isProcessed && !isBuffered) break search;
        break;
      case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: {
        if (!isInDescription || pending.has(event.activityTaskScheduledEventAttributes?.activityId)) break;
        const end = closing.get(String(event.eventId));
        if (!end) isIncomplete = true;
        else if (Number(end.eventId) > historyLength) unprocessed.push(end);
      }
    }
  }
  const ids = [...children.unprocessed];
  const closedParts = await Promise.all(ids.slice(0, CLOSED_PARTS_LIMIT).map((id) => readPart(temporal, id)));
  return {
    closed: await Promise.all(unprocessed.map((event) => reportOf(temporal, event))),
    closedParts: closedParts.filter((part) => part !== undefined),
    isIncomplete: isIncomplete || ids.length > CLOSED_PARTS_LIMIT,
  };
}

/** Collects child workflows whose end the workflow has not processed yet, from the end of the history. */
class ClosedChildren {
  readonly unprocessed = new Set<string>();
  readonly #open: Set<string>;
  /** Initiated event IDs of children whose closing event was seen. */
  readonly #closed = new Set<string>();

  constructor({ pendingChildren }: WorkflowExecutionDescription['raw']) {
    this.#open = new Set((pendingChildren ?? []).map(({ initiatedId }) => String(initiatedId)));
  }

  /** @param isProcessed whether the workflow has run since the event */
  add(event: HistoryEvent, isProcessed: boolean): void {
    const end =
      event.childWorkflowExecutionCompletedEventAttributes ??
      event.childWorkflowExecutionFailedEventAttributes ??
      event.childWorkflowExecutionCanceledEventAttributes ??
      event.childWorkflowExecutionTerminatedEventAttributes ??
      event.childWorkflowExecutionTimedOutEventAttributes;
    const start = event.childWorkflowExecutionStartedEventAttributes;
    const { initiatedEventId, workflowExecution } = end ?? start ?? {};
    const id = String(initiatedEventId);
    // Temporal buffers a child's end during a workflow task: it's neither open nor in the history then.
    const isUnprocessed = end ? !isProcessed : start && !this.#open.has(id) && !this.#closed.has(id);
    if (isUnprocessed && workflowExecution?.workflowId) this.unprocessed.add(workflowExecution.workflowId);
    if (end) this.#closed.add(id);
  }
}

/** Scheduled event ID of the activity that this event closes. */
function scheduledEventOf(event: HistoryEvent): string | undefined {
  return (
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskCanceledEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes
  )?.scheduledEventId?.toString();
}

async function reportOf(temporal: TemporalClient, event: HistoryEvent): Promise<ClosedReport> {
  const result = event.activityTaskCompletedEventAttributes?.result;
  const details = event.activityTaskCanceledEventAttributes?.details;
  const failure =
    event.activityTaskFailedEventAttributes?.failure ?? event.activityTaskTimedOutEventAttributes?.failure;
  const payloads = (result ?? details)?.payloads;
  const progress = failure
    ? reportInFailure(
        await decodeOptionalFailureToOptionalError(temporal.dataConverter, failure).catch(() => undefined),
      )
    : (await decodeReadable(temporal, payloads)).map(result ? reportInResult : reportIn).at(-1);
  return { progress, time: event.eventTime };
}

/** Decimal places of amounts from 1; smaller amounts keep this many digits after their first one. */
const DECIMALS = 2;
/** Tolerance for rounding errors of summed fractions, in units of the last digit. */
const NOISE = 1e-6;

/** Rounds summed fractions: amounts down, totals up. Only finished work reaches the total, and progress stays monotonic. */
export function roundProgress({ progress, total, message }: Progress): Progress {
  const roundedTotal = total === undefined ? undefined : roundUp(total);
  const amount = roundDown(progress);
  const isDone = total !== undefined && roundedTotal !== undefined && progress >= total;
  return { progress: isDone ? Math.max(roundedTotal, amount) : amount, total: roundedTotal, message };
}

function roundDown(value: number): number {
  const unit = unitsPerOne(value);
  return Math.floor(value * unit + NOISE) / unit;
}

function roundUp(value: number): number {
  const unit = unitsPerOne(value);
  return Math.ceil(value * unit - NOISE) / unit + 0;
}

function unitsPerOne(value: number): number {
  const size = Math.abs(value);
  if (size >= 1 || size === 0) return 10 ** DECIMALS;
  return 10 ** (DECIMALS - Math.floor(Math.log10(size)));
}

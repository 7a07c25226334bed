/**
 * Progress of an operation. The number and the time of its last change never go back, for any reader on any server: the
 * event that closes an activity holds what it had reported, and counts from there until the workflow has added it to its
 * own progress.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { tidyProgress } from '../operations/progress-digits.js';
import { mergeProgress, type Progress } from '../operations/record.js';
import { reportIn, reportInFailure, reportInResult } from '../operations/report.js';
import type { StateMemo } from '../operations/wire.js';
import { eventsFromEnd, toDate, UNTAKEN_EVENTS, type HistoryEvent } from './history.js';
import { readPart, type Part } from './parts.js';
import type { TemporalClient } from './temporal.js';

const { EventType, PendingWorkflowTaskState } = proto.temporal.api.enums.v1;

/** Maximum pages of history in which open activities are looked for. */
const MAX_PAGES = 5;
/** Maximum number of closed child workflows that are described for one reading. */
const CLOSED_PARTS_LIMIT = 50;
/** Maximum number of runs whose furthest progress a reader remembers. */
const REMEMBERED_RUNS = 5_000;

export interface Standing {
  /** Missing when there is none, or when it can't be read at this moment and would be lower than it was. */
  progress?: Progress;
  /** ISO 8601, UTC. */
  updatedAt: string;
}

/** Reads progress over one connection, and remembers the furthest of each run. */
export class ProgressReader {
  /** By run ID. */
  readonly #furthest = new Map<string, Standing>();
  readonly #ofParts = new WeakMap<Part, Promise<Standing>>();

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Reads an operation's progress from its description, and from its history's end while events wait for a worker.
   *
   * @param updatedAt ISO 8601; when the rest of its state changed last
   * @param parts its open child workflows
   */
  async read(
    description: WorkflowExecutionDescription,
    state: StateMemo,
    updatedAt: string,
    parts: Part[] = [],
  ): Promise<Standing> {
    const { temporal } = this;
    const { raw, runId } = description;
    const running = await Promise.all(
      (raw.pendingActivities ?? []).map(async ({ heartbeatDetails, lastHeartbeatTime }) => {
        const [details] = await decodeArrayFromPayloads(temporal.dataConverter, heartbeatDetails?.payloads);
        return { progress: reportIn(details), time: lastHeartbeatTime };
      }),
    );
    const { closed, closedParts, isIncomplete } = await untakenReports(temporal, description);
    const reports = [...closed, ...running].filter(({ progress }) => progress !== undefined);
    const partial = await Promise.all([...closedParts, ...parts].map((part) => this.readPart(part)));
    const progress = mergeProgress(
      state,
      [...reports, ...partial].flatMap((report) => report.progress ?? []),
    );
    const times = [
      ...reports.map(({ time }) => (time ? toDate(time).toISOString() : updatedAt)),
      ...partial.map((standing) => standing.updatedAt),
    ];
    return this.#monotonic(runId, {
      ...(progress && !isIncomplete ? { progress: tidyProgress(progress) } : {}),
      updatedAt: [updatedAt, ...times].sort().at(-1)!,
    });
  }

  /** Reads a part's progress, once for each object that describes it. */
  readPart(part: Part): Promise<Standing> {
    const { description, state, parts } = part;
    const known = this.#ofParts.get(part);
    if (known) return known;
    const updatedAt = state.updatedAt ?? description.startTime.toISOString();
    const standing = this.read(description, state, updatedAt, parts);
    this.#ofParts.set(part, standing);
    return standing;
  }

  /**
   * The further of what is read now and what was read before: of two concurrent reads the later answer may be the older
   * one, and a clock may be set back.
   */
  #monotonic(runId: string, now: Standing): Standing {
    const runs = this.#furthest;
    const before = runs.get(runId);
    const isBehind = before?.progress && !(now.progress && now.progress.progress >= before.progress.progress);
    const progress = isBehind ? before.progress : now.progress;
    const updatedAt = before && before.updatedAt > now.updatedAt ? before.updatedAt : now.updatedAt;
    const standing = { ...(progress ? { progress } : {}), updatedAt };
    runs.delete(runId);
    runs.set(runId, standing);
    if (runs.size > REMEMBERED_RUNS) runs.delete(runs.keys().next().value!);
    return standing;
  }
}

interface ClosedReport {
  progress: Progress | undefined;
  time: HistoryEvent['eventTime'];
}

interface Untaken {
  /** Of activities that have closed since the workflow ran last. */
  closed: ClosedReport[];
  /** Child workflows that have closed since then. */
  closedParts: Part[];
  /** An activity has closed, and Temporal doesn't show how before the running workflow task ends. */
  isIncomplete: boolean;
}

async function untakenReports(
  temporal: TemporalClient,
  { raw, runId, workflowId, historyLength, status }: WorkflowExecutionDescription,
): Promise<Untaken> {
  const { pendingWorkflowTask: task } = raw;
  const wasCutOff = status.name === 'TERMINATED' || status.name === 'TIMED_OUT';
  if (historyLength <= UNTAKEN_EVENTS || (!task && !wasCutOff))
    return { closed: [], closedParts: [], isIncomplete: false };
  // Temporal holds back what happens during a workflow task; a killed worker's lasts until its time-out.
  const isHeldBack =
    wasCutOff || task?.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED;
  const pending = new Set((raw.pendingActivities ?? []).map(({ activityId }) => activityId));
  /** Scheduled event ID -> the event that closed the activity. */
  const closing = new Map<string, HistoryEvent>();
  const untaken: HistoryEvent[] = [];
  const children = new ClosedChildren(raw);
  let isTaken = false;
  let isIncomplete = false;
  search: for await (const event of eventsFromEnd(temporal, { workflowId, runId }, MAX_PAGES)) {
    const isInDescription = Number(event.eventId) <= historyLength;
    if (isInDescription) children.see(event, isTaken);
    const scheduledEventId = scheduledEventOf(event);
    if (scheduledEventId !== undefined) {
      closing.set(scheduledEventId, event);
      if (!isTaken && isInDescription) untaken.push(event);
    }
    switch (event.eventType) {
      case EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
        isTaken ||= isInDescription;
        if (isTaken && !isHeldBack) break search;
        break;
      case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: {
        if (!isInDescription || pending.has(event.activityTaskScheduledEventAttributes?.activityId)) break;
        const end = closing.get(String(event.eventId));
        if (!end) isIncomplete = true;
        else if (Number(end.eventId) > historyLength) untaken.push(end);
      }
    }
  }
  const ids = [...children.untaken];
  const closedParts = await Promise.all(ids.slice(0, CLOSED_PARTS_LIMIT).map((id) => readPart(temporal, id)));
  return {
    closed: await Promise.all(untaken.map((event) => reportOf(temporal, event))),
    closedParts: closedParts.filter((part) => part !== undefined),
    isIncomplete: isIncomplete || ids.length > CLOSED_PARTS_LIMIT,
  };
}

/** Finds the child workflows whose end the workflow has not taken yet, from its history's end. */
class ClosedChildren {
  readonly untaken = new Set<string>();
  readonly #open: Set<string>;
  /** Initiated event IDs of those whose closing event was seen. */
  readonly #closed = new Set<string>();

  constructor({ pendingChildren }: WorkflowExecutionDescription['raw']) {
    this.#open = new Set((pendingChildren ?? []).map(({ initiatedId }) => String(initiatedId)));
  }

  /** @param isTaken has the workflow run since the event? */
  see(event: HistoryEvent, isTaken: boolean): void {
    const end =
      event.childWorkflowExecutionCompletedEventAttributes ??
      event.childWorkflowExecutionFailedEventAttributes ??
      event.childWorkflowExecutionCanceledEventAttributes ??
      event.childWorkflowExecutionTerminatedEventAttributes ??
      event.childWorkflowExecutionTimedOutEventAttributes;
    const start = event.childWorkflowExecutionStartedEventAttributes;
    const { initiatedEventId, workflowExecution } = end ?? start ?? {};
    const id = String(initiatedEventId);
    // Temporal holds back the end of a child during a workflow task: then it is neither open nor in the history.
    const isUntaken = end ? !isTaken : start && !this.#open.has(id) && !this.#closed.has(id);
    if (isUntaken && workflowExecution?.workflowId) this.untaken.add(workflowExecution.workflowId);
    if (end) this.#closed.add(id);
  }
}

/** The scheduled event of the activity that this event closes. */
function scheduledEventOf(event: HistoryEvent): string | undefined {
  return (
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskCanceledEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes
  )?.scheduledEventId?.toString();
}

async function reportOf({ dataConverter }: TemporalClient, event: HistoryEvent): Promise<ClosedReport> {
  const result = event.activityTaskCompletedEventAttributes?.result;
  const details = event.activityTaskCanceledEventAttributes?.details;
  const failure =
    event.activityTaskFailedEventAttributes?.failure ?? event.activityTaskTimedOutEventAttributes?.failure;
  const payloads = (result ?? details)?.payloads;
  const progress = failure
    ? reportInFailure(await decodeOptionalFailureToOptionalError(dataConverter, failure))
    : (await decodeArrayFromPayloads(dataConverter, payloads)).map(result ? reportInResult : reportIn).at(-1);
  return { progress, time: event.eventTime };
}

/** Events of a run for people: which activity, which attempt, how long it took, why it failed. Without arguments and results. */
import proto from '@temporalio/proto';
import { activityFailureMessage, activityName } from '../../operations/activity-names.js';
import { defined } from '../../operations/defined.js';
import { readCancelCause } from '../../engine/cancel-cause.js';
import { toDate, type HistoryEvent } from '../../engine/history.js';

const { EventType, TimeoutType } = proto.temporal.api.enums.v1;

type Failure = proto.temporal.api.failure.v1.IFailure;

/** An event, as `--json` has it. */
export interface DescribedEvent {
  id: number;
  /** ISO 8601, UTC. */
  at: string;
  /** Since the run's start. */
  sinceStartSeconds: number;
  /** Temporal's name: `ActivityTaskFailed`. */
  event: string;
  /** The activity, timer, child workflow, signal or update that it is about. */
  about?: string;
  attempt?: number;
  /** From the start of the activity's last attempt, the child workflow or the run to its end. */
  durationSeconds?: number;
  /** Wait of a started activity for a worker. */
  queuedSeconds?: number;
  /** Worker that did it. */
  identity?: string;
  /** Message of the failure, then those of its causes. */
  failure?: string[];
  /** Further facts in a line: a reason, a duration, names. */
  detail?: string;
  /** Values by their place in the event, if they were asked for. */
  payloads?: Record<string, unknown>;
}

/** An activity, timer or child workflow that later events refer to. */
interface Subject {
  about: string;
  type: string;
  startedMs?: number;
  scheduledMs: number;
  attempt?: number;
}

/** Workflow tasks that have succeeded: they are most of a history, and say nothing about the work. */
const ROUTINE: ReadonlySet<string> = new Set([
  'WorkflowTaskScheduled',
  'WorkflowTaskStarted',
  'WorkflowTaskCompleted',
]);

export function isRoutine({ event }: DescribedEvent): boolean {
  return ROUTINE.has(event);
}

/** Describes the events of one run, in their order. */
export class EventDescriber {
  #startMs: number | undefined;
  /** By the ID of the event that began it. */
  readonly #subjects = new Map<number, Subject>();

  /** @param summary of the event, decoded */
  describe(event: HistoryEvent, summary: string | undefined): DescribedEvent {
    const atMs = event.eventTime ? toDate(event.eventTime).getTime() : 0;
    this.#startMs ??= atMs;
    const id = Number(event.eventId);
    return {
      id,
      at: new Date(atMs).toISOString(),
      sinceStartSeconds: seconds(atMs - this.#startMs),
      event: eventName(event),
      ...this.#facts(event, id, atMs, summary),
    };
  }

  #facts(event: HistoryEvent, id: number, atMs: number, summary: string | undefined) {
    const begin = (about: string, type = '') =>
      this.#subjects.set(id, { about, type, scheduledMs: atMs }) && { about };
    switch (event.eventType) {
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: {
        const { workflowType, attempt, continuedExecutionRunId } =
          event.workflowExecutionStartedEventAttributes!;
        return {
          about: workflowType?.name ?? '',
          ...(Number(attempt) > 1 ? { attempt: Number(attempt) } : {}),
          ...(continuedExecutionRunId ? { detail: `continues the run ${continuedExecutionRunId}` } : {}),
        };
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
        return this.#ended(atMs, event.workflowExecutionFailedEventAttributes?.failure);
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: {
        const { reason } = event.workflowExecutionTerminatedEventAttributes!;
        return { ...this.#ended(atMs), ...defined({ detail: reason || undefined }) };
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
        return this.#ended(atMs);
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
        return {
          ...this.#ended(atMs),
          detail: `continues as the run ${event.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId}`,
        };
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: {
        const { cause, identity } = event.workflowExecutionCancelRequestedEventAttributes!;
        return defined({
          detail: readCancelCause(cause ?? '').reason,
          identity: identity || undefined,
        });
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: {
        const { signalName, identity } = event.workflowExecutionSignaledEventAttributes!;
        return { about: signalName ?? '', ...defined({ identity: identity || undefined }) };
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: {
        const { input, meta } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest ?? {};
        return { ...begin(input?.name ?? ''), ...defined({ identity: meta?.identity || undefined }) };
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED: {
        const { acceptedEventId, outcome } = event.workflowExecutionUpdateCompletedEventAttributes!;
        return { ...this.#about(acceptedEventId), ...failureOf('', outcome?.failure) };
      }
      case EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: {
        const { failure, identity } = event.workflowTaskFailedEventAttributes!;
        return { ...failureOf('', failure), ...defined({ identity: identity || undefined }) };
      }
      case EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
        return { detail: timeoutName(event.workflowTaskTimedOutEventAttributes?.timeoutType) };
      case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: {
        const type = event.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
        const name = activityName(type, summary);
        // An activity of a tool has its stage as its summary.
        const isStage = summary !== undefined && name === type && summary !== type;
        return begin(isStage ? `${name} (${summary})` : name, type);
      }
      case EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED: {
        const attributes = event.activityTaskStartedEventAttributes!;
        const subject = this.#subjects.get(Number(attributes.scheduledEventId));
        const attempt = Number(attributes.attempt ?? 1);
        if (subject) Object.assign(subject, { startedMs: atMs, attempt });
        return {
          ...this.#about(attributes.scheduledEventId),
          attempt,
          // A retried activity has only the event of its last attempt.
          ...(subject && attempt === 1 ? { queuedSeconds: seconds(atMs - subject.scheduledMs) } : {}),
          ...defined({ identity: attributes.identity || undefined }),
          ...failureOf(subject?.type ?? '', attributes.lastFailure),
        };
      }
      case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
        return this.#closed(event.activityTaskCompletedEventAttributes?.scheduledEventId, atMs);
      case EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: {
        const { scheduledEventId, failure } = event.activityTaskFailedEventAttributes!;
        return this.#closed(scheduledEventId, atMs, failure);
      }
      case EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: {
        const { scheduledEventId, failure } = event.activityTaskTimedOutEventAttributes!;
        const { timeoutFailureInfo: info } = failure ?? {};
        return {
          ...this.#closed(scheduledEventId, atMs, failure),
          detail: timeoutName(info?.timeoutType),
        };
      }
      case EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED:
        return this.#about(event.activityTaskCancelRequestedEventAttributes?.scheduledEventId);
      case EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
        return this.#closed(event.activityTaskCanceledEventAttributes?.scheduledEventId, atMs);
      case EventType.EVENT_TYPE_TIMER_STARTED: {
        const { timerId, startToFireTimeout } = event.timerStartedEventAttributes!;
        return {
          ...begin(summary ?? `timer ${timerId}`),
          detail: `${seconds(Number(startToFireTimeout?.seconds ?? 0) * 1_000 + Number(startToFireTimeout?.nanos ?? 0) / 1e6)} s`,
        };
      }
      case EventType.EVENT_TYPE_TIMER_FIRED:
        return this.#about(event.timerFiredEventAttributes?.startedEventId);
      case EventType.EVENT_TYPE_TIMER_CANCELED:
        return this.#about(event.timerCanceledEventAttributes?.startedEventId);
      case EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: {
        const { workflowId, workflowType } = event.startChildWorkflowExecutionInitiatedEventAttributes!;
        return begin(`${workflowType?.name} ${workflowId}`);
      }
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: {
        const { initiatedEventId } = event.childWorkflowExecutionStartedEventAttributes!;
        const subject = this.#subjects.get(Number(initiatedEventId));
        if (subject) subject.startedMs = atMs;
        return this.#about(initiatedEventId);
      }
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED:
        return this.#closed(event.childWorkflowExecutionCompletedEventAttributes?.initiatedEventId, atMs);
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: {
        const { initiatedEventId, failure } = event.childWorkflowExecutionFailedEventAttributes!;
        return this.#closed(initiatedEventId, atMs, failure);
      }
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED:
        return this.#closed(event.childWorkflowExecutionCanceledEventAttributes?.initiatedEventId, atMs);
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT:
        return this.#closed(event.childWorkflowExecutionTimedOutEventAttributes?.initiatedEventId, atMs);
      case EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED:
        return this.#closed(event.childWorkflowExecutionTerminatedEventAttributes?.initiatedEventId, atMs);
      case EventType.EVENT_TYPE_MARKER_RECORDED:
        return { about: event.markerRecordedEventAttributes?.markerName ?? '' };
      case EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED: {
        const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields ?? {};
        return { about: `memo ${Object.keys(memo).join(', ')}` };
      }
      case EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: {
        const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes!;
        return { about: Object.keys(searchAttributes?.indexedFields ?? {}).join(', ') };
      }
      default:
        return {};
    }
  }

  #ended(atMs: number, failure?: Failure | null) {
    return { durationSeconds: seconds(atMs - this.#startMs!), ...failureOf('', failure) };
  }

  #about(id: unknown): { about?: string } {
    const subject = this.#subjects.get(Number(id));
    return subject ? { about: subject.about } : {};
  }

  #closed(id: unknown, atMs: number, failure?: Failure | null) {
    const subject = this.#subjects.get(Number(id));
    if (!subject) return failureOf('', failure);
    const { about, type, startedMs, attempt } = subject;
    return {
      about,
      ...defined({ attempt }),
      ...(startedMs === undefined ? {} : { durationSeconds: seconds(atMs - startedMs) }),
      ...failureOf(type, failure),
    };
  }
}

/** `ActivityTaskFailed` for EVENT_TYPE_ACTIVITY_TASK_FAILED. */
function eventName({ eventType }: HistoryEvent): string {
  return (EventType[eventType ?? 0] ?? String(eventType))
    .replace('EVENT_TYPE_', '')
    .toLowerCase()
    .replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function timeoutName(type: number | null | undefined): string {
  return (TimeoutType[type ?? 0] ?? '').replace('TIMEOUT_TYPE_', '').toLowerCase().replaceAll('_', ' ');
}

/** Messages of a failure and its causes, each once: a wrapper repeats what it wraps. */
function failureOf(activityType: string, failure: Failure | null | undefined): { failure?: string[] } {
  const messages: string[] = [];
  for (let one = failure; one; one = one.cause) {
    const type = one.applicationFailureInfo?.type;
    const message = activityFailureMessage(activityType, one.message ?? '');
    const named = type && type !== 'Error' ? `${type}: ${message}` : message;
    const isWrapper = one.activityFailureInfo ?? one.childWorkflowExecutionFailureInfo;
    if (named && !(isWrapper && one.cause)) messages.push(named);
  }
  return messages.length ? { failure: [...new Set(messages)] } : {};
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

/** Facts about a workflow type, collected from the histories of its runs. */
import type proto from '@temporalio/proto';
import type { HistoryEvent } from '../../engine/read/history.js';
import { timestampMs } from '../../platform/temporal/time.js';
import { SeenValues } from './seen-values.js';

type Failure = proto.temporal.api.failure.v1.IFailure;

/** A query, signal or update that a worker defines. */
export interface Definition {
  name: string;
  description: string;
}

export type Definitions = Record<'queries' | 'signals' | 'updates', Definition[]>;

export class Observed {
  histories = 0;
  readonly inputs = new SeenValues();
  readonly results = new SeenValues();
  /** Arguments by name. */
  readonly signals = new Map<string, SeenValues>();
  readonly updates = new Map<string, SeenValues>();
  /** Details by activity type. */
  readonly heartbeats = new Map<string, SeenValues>();
  /** Activity types with a heartbeat time-out. */
  readonly beating = new Set<string>();
  readonly timeoutsSeconds: number[] = [];
  /** Undefined if no worker was asked, or none answered. */
  definitions: Definitions | undefined;

  /** Names of queries, signals or updates: those in histories, and those that a worker defines. */
  namesOf(kind: keyof Definitions): string[] {
    const seen = kind === 'queries' ? [] : this[kind].keys();
    const defined = this.definitions?.[kind] ?? [];
    return [...new Set([...seen, ...defined.map(({ name }) => name)])];
  }

  /** @param events of one run */
  addHistory(events: readonly HistoryEvent[]): void {
    this.histories += 1;
    const activities = new Map<number, string>();
    for (const event of events) this.#add(event, activities);
  }

  addHeartbeat(activity: string, details: proto.temporal.api.common.v1.IPayloads | null | undefined): void {
    if (details?.payloads?.length) seenOf(this.heartbeats, activity).add(details.payloads);
  }

  #add(event: HistoryEvent, activities: Map<number, string>): void {
    const {
      workflowExecutionStartedEventAttributes: started,
      workflowExecutionCompletedEventAttributes: completed,
      workflowExecutionSignaledEventAttributes: signaled,
      workflowExecutionUpdateAcceptedEventAttributes: accepted,
      workflowExecutionUpdateAdmittedEventAttributes: admitted,
      activityTaskScheduledEventAttributes: scheduled,
      activityTaskStartedEventAttributes: activityStarted,
      activityTaskTimedOutEventAttributes: timedOut,
    } = event;
    if (started) {
      this.inputs.add(started.input?.payloads);
      const seconds = Number(started.workflowExecutionTimeout?.seconds ?? 0);
      if (seconds > 0) this.timeoutsSeconds.push(seconds);
    }
    if (completed) this.results.add(completed.result?.payloads);
    if (signaled) addMessage(this.signals, signaled.signalName, signaled.input);
    const update = (accepted?.acceptedRequest ?? admitted?.request)?.input;
    if (update) addMessage(this.updates, update.name, update.args);
    if (scheduled) {
      const type = scheduled.activityType?.name ?? '';
      activities.set(Number(event.eventId), type);
      if (timestampMs(scheduled.heartbeatTimeout ?? {}) > 0) this.beating.add(type);
    }
    for (const attempt of [
      { scheduledEventId: activityStarted?.scheduledEventId, failure: activityStarted?.lastFailure },
      { scheduledEventId: timedOut?.scheduledEventId, failure: timedOut?.failure },
    ])
      this.addHeartbeat(
        activities.get(Number(attempt.scheduledEventId)) ?? 'an activity',
        lastHeartbeat(attempt.failure),
      );
  }
}

/** Details of the last heartbeat before a time-out. */
function lastHeartbeat(failure: Failure | null | undefined) {
  for (let at = failure; at; at = at.cause)
    if (at.timeoutFailureInfo?.lastHeartbeatDetails) return at.timeoutFailureInfo.lastHeartbeatDetails;
  return undefined;
}

function addMessage(
  messages: Map<string, SeenValues>,
  name: string | null | undefined,
  args: proto.temporal.api.common.v1.IPayloads | null | undefined,
): void {
  // Built-in names begin with `__`.
  if (name && !name.startsWith('__')) seenOf(messages, name).add(args?.payloads);
}

function seenOf(all: Map<string, SeenValues>, name: string): SeenValues {
  const seen = all.get(name) ?? new SeenValues();
  all.set(name, seen);
  return seen;
}

/** A worker's answer to Temporal's built-in metadata query, without built-in definitions. */
export function definitionsOf(metadata: unknown): Definitions {
  const definition = (metadata as { definition?: Record<string, unknown> } | null)?.definition ?? {};
  const listOf = (key: string): Definition[] =>
    (Array.isArray(definition[key]) ? (definition[key] as Partial<Definition>[]) : [])
      .map(({ name, description }) => ({ name: String(name ?? ''), description: String(description ?? '') }))
      .filter(({ name }) => name !== '' && !name.startsWith('__'));
  return {
    queries: listOf('queryDefinitions'),
    signals: listOf('signalDefinitions'),
    updates: listOf('updateDefinitions'),
  };
}

/** State of an operation without Longhaul's runtime: Temporal's description and the file's queries, in the form of the state memo. */
import { createHash } from 'node:crypto';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import {
  progressIn,
  questionsIn,
  type ExternalQuestion,
  type ExternalWorkflow,
  type ProgressMapping,
  type QuestionMapping,
} from '../../operations/wire/external-workflow.js';
import type { InputRequest } from '../../operations/record.js';
import type { PublishedState, StateMemo } from '../../operations/wire/state.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import type { PendingActivity } from '../read/start-memo.js';
import { decodeReadable, eventsFromEnd, toDate, type HistoryEvent } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';
import { ExternalQueries } from './queries.js';

/** Maximum number of history pages to search for an answer or a signal. */
const MAX_PAGES = 20;
/** Maximum length of a shown heartbeat, in characters of JSON. */
const MAX_HEARTBEAT_CHARACTERS = 120;
/** Maximum number of remembered events. */
const MAX_REMEMBERED = 1_000;

interface FoundEvent {
  eventId: number;
  /** ISO 8601. */
  at: string;
}

export interface ExternalState extends PublishedState {
  /** Why part of the state is unknown, in one line. */
  problem?: string;
  /** The running activity, in one line. */
  activity?: string;
}

export class ExternalStates {
  readonly #queries: ExternalQueries;
  /** Run ID, name and number of events -> latest matching event. */
  readonly #latest = new Map<string, FoundEvent | undefined>();

  constructor(
    private readonly temporal: TemporalClient,
    wake: (workflowId: string) => void,
  ) {
    this.#queries = new ExternalQueries(temporal, wake);
  }

  expire(runId: string): void {
    this.#queries.expire(runId);
  }

  /** @throws LonghaulError `unavailable` */
  async read(
    description: WorkflowExecutionDescription,
    external: ExternalWorkflow | undefined,
  ): Promise<ExternalState> {
    const updatedAt = lastKnownChange(description);
    if (!isOpen(description)) {
      const cancelled = external && (await this.#cancelSignal(description, external));
      return { updatedAt, ...cancelled };
    }
    const [reported, asked, cancelled, activity] = await Promise.all([
      external?.progress && this.#progress(description, external.progress),
      external?.question && this.#questions(description, external.question),
      external && this.#cancelSignal(description, external),
      this.#activityLine(description),
    ]);
    const problem = reported?.problem ?? asked?.problem;
    return {
      updatedAt,
      ...reported?.state,
      ...(asked && Object.keys(asked.inputRequests).length > 0 ? { inputRequests: asked.inputRequests } : {}),
      ...cancelled,
      problem,
      activity,
    };
  }

  async #progress(
    description: WorkflowExecutionDescription,
    { from, fields }: ProgressMapping,
  ): Promise<{ state: StateMemo; problem?: string }> {
    if (from === 'heartbeats') {
      const details = await this.#heartbeats(description);
      return { state: details.map((one) => progressIn(one, fields)).find(hasFields) ?? {} };
    }
    const { value, problem } = await this.#queries.read(description, from.query);
    return { state: progressIn(value, fields), problem };
  }

  /** Latest heartbeat of each pending activity, most recent activity first. */
  async #heartbeats({ raw }: WorkflowExecutionDescription): Promise<unknown[]> {
    const activities = [...(raw.pendingActivities ?? [])].reverse();
    return Promise.all(activities.map((activity) => this.#heartbeat(activity)));
  }

  async #heartbeat({ heartbeatDetails }: PendingActivity): Promise<unknown> {
    return (await decodeReadable(this.temporal, heartbeatDetails?.payloads))[0];
  }

  /** The running activity with its heartbeat: `ImportRows: {"rows":340}`. */
  async #activityLine({ raw }: WorkflowExecutionDescription): Promise<string | undefined> {
    const [first, ...others] = raw.pendingActivities ?? [];
    if (!first) return undefined;
    const heartbeat = JSON.stringify(await this.#heartbeat(first));
    const isShown = heartbeat !== undefined && heartbeat.length <= MAX_HEARTBEAT_CHARACTERS;
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return `${first.activityType?.name ?? 'an activity'}${isShown ? `: ${heartbeat}` : ''}${more}`;
  }

  async #questions(
    description: WorkflowExecutionDescription,
    mapping: QuestionMapping,
  ): Promise<{ inputRequests: Record<string, InputRequest>; problem?: string }> {
    const { value, problem, historyLength } = await this.#queries.read(description, mapping.query);
    const open = questionsIn(value, mapping);
    // A question's own identity makes its key. Otherwise earlier answers do, so no key is used twice.
    const answered = open.some(({ identity }) => identity === undefined)
      ? await this.#latestEvent(description, historyLength, mapping.answer.name)
      : undefined;
    const keyed = open.map(
      (one) => [questionKey(one, description.runId, answered?.eventId ?? 0), one.request] as const,
    );
    return { inputRequests: Object.fromEntries(keyed), problem };
  }

  async #cancelSignal(
    description: WorkflowExecutionDescription,
    { cancelSignal }: ExternalWorkflow,
  ): Promise<Pick<StateMemo, 'cancelRequestedAt'> | undefined> {
    if (!cancelSignal) return undefined;
    const sent = await this.#latestEvent(description, description.historyLength, cancelSignal.name);
    return sent && { cancelRequestedAt: sent.at };
  }

  async #latestEvent(
    { workflowId, runId }: WorkflowExecutionDescription,
    historyLength: number,
    name: string,
  ): Promise<FoundEvent | undefined> {
    const key = `${runId}\n${name}\n${historyLength}`;
    if (this.#latest.has(key)) return this.#latest.get(key);
    let latest: FoundEvent | undefined;
    for await (const event of eventsFromEnd(this.temporal, { workflowId, runId }, MAX_PAGES)) {
      const eventId = Number(event.eventId);
      if (eventId > historyLength || messageName(event) !== name) continue;
      latest = { eventId, at: toDate(event.eventTime ?? {}).toISOString() };
      break;
    }
    this.#latest.set(key, latest);
    if (this.#latest.size > MAX_REMEMBERED) this.#latest.delete(this.#latest.keys().next().value!);
    return latest;
  }
}

function messageName({
  workflowExecutionUpdateAcceptedEventAttributes: accepted,
  workflowExecutionSignaledEventAttributes: signaled,
}: HistoryEvent): string | undefined {
  return accepted?.acceptedRequest?.input?.name ?? signaled?.signalName ?? undefined;
}

function hasFields(state: StateMemo): boolean {
  return Object.keys(state).length > 0;
}

/** Every process derives the same key for a question. */
function questionKey({ identity, value }: ExternalQuestion, runId: string, answered: number): string {
  if (identity !== undefined && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(identity)) return identity;
  const asked = identity ?? [runId, answered, value];
  return `question-${createHash('sha256').update(canonicalJson(asked)).digest('hex').slice(0, 12)}`;
}

/** Latest time in a description, ISO 8601. The history knows more, but reading it costs a call. */
function lastKnownChange({ raw, startTime, closeTime }: WorkflowExecutionDescription): string {
  const times = [
    raw.pendingWorkflowTask?.scheduledTime,
    ...(raw.pendingActivities ?? []).flatMap(({ lastHeartbeatTime, lastStartedTime, scheduledTime }) => [
      ...[lastHeartbeatTime, lastStartedTime, scheduledTime],
    ]),
  ];
  const dates = times.flatMap((time) => (time ? [toDate(time)] : []));
  return new Date(Math.max(...[startTime, closeTime ?? startTime, ...dates].map(Number))).toISOString();
}

/** State events of an operation, from its history: every reader gets the same events in the same order at any time. */
import proto from '@temporalio/proto';
import { defined } from '../../operations/json/defined.js';
import { isTerminal, type InputRequest, type OperationStatus } from '../../operations/record.js';
import { START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import { INPUT_MEMO, STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import {
  CLOSING_EVENTS,
  decodeMemo,
  eventsFromEnd,
  INITIAL_EVENTS,
  toDate,
  type HistoryEvent,
} from '../read/history.js';
import { RUN_STEP_ACTIVITY } from '../../pipelines/run.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import type { TemporalClient } from '../temporal/client.js';
import { nameDigest, nameDigestsIn, startPosition, textDigest, type DeliveredState } from './position.js';

const { ContinueAsNewInitiator, EventType } = proto.temporal.api.enums.v1;

const PAGE_EVENTS = 1_000;
/** Deadline of a page, in milliseconds. */
const PAGE_DEADLINE_MS = 10_000;
const UNTAKEN: ReadonlySet<OperationStatus> = new Set(['unknown', 'submitted']);

export interface StateHistoryEvent {
  id: number;
  /** ISO 8601, UTC. */
  at: string;
  /** State that the workflow wrote, or that a run begins with. */
  memo?: Pick<StateMemo, 'stage' | 'turnAt'>;
  /** Open input requests, where they changed or a run begins. */
  inputRequests?: Record<string, InputRequest>;
  /** The run starts by waiting for its turn in a queue. */
  beginsWaiting?: true;
  isLaterRun?: true;
  isCancelRequest?: true;
  isClose?: true;
}

export interface RunStates {
  /** Oldest first. */
  events: StateHistoryEvent[];
  /** Run that continues this one as new. */
  continuedAs?: string;
  /** The latest event by which a pipeline's steps changed: one was scheduled, or the workflow has taken an activity's end. */
  lastWork?: number;
}

const ENDS_OF_WORK: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
  EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
]);

/**
 * Reads a run's events after a given one; undefined if the run is no longer kept. Reads from the end, so the cost depends on new events
 * only.
 *
 * @throws LonghaulError `unavailable`
 */
export async function statesAfter(
  temporal: TemporalClient,
  run: { workflowId: string; runId: string },
  after: number,
): Promise<RunStates | undefined> {
  const states: RunStates = { events: [] };
  const pageEvents = after === 0 ? PAGE_EVENTS : undefined;
  let isTaken = false;
  try {
    for await (const event of eventsFromEnd(temporal, run, Infinity, pageEvents, PAGE_DEADLINE_MS)) {
      if (Number(event.eventId) <= after) break;
      const { newExecutionRunId } = event.workflowExecutionContinuedAsNewEventAttributes ?? {};
      if (newExecutionRunId) states.continuedAs = newExecutionRunId;
      const type = event.eventType as number;
      // A worker that hasn't taken an activity's end yet knows no more than before.
      isTaken ||= type === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
      if (isStep(event) || (isTaken && ENDS_OF_WORK.has(type))) states.lastWork ??= Number(event.eventId);
      const stateEvent = await toStateEvent(temporal, event);
      if (stateEvent) states.events.push(stateEvent);
    }
  } catch (error) {
    if (isGrpcError(error, GRPC.notFound)) return undefined;
    throw error;
  }
  states.events.reverse();
  return states;
}

function isStep({ activityTaskScheduledEventAttributes: scheduled }: HistoryEvent): boolean {
  return scheduled?.activityType?.name === RUN_STEP_ACTIVITY;
}

/** Undefined for an event that changes no state. */
async function toStateEvent(
  temporal: TemporalClient,
  event: HistoryEvent,
): Promise<StateHistoryEvent | undefined> {
  const id = Number(event.eventId);
  const at = toDate(event.eventTime ?? {}).toISOString();
  if (event.workflowExecutionStartedEventAttributes) return { id, at, ...(await beginning(temporal, event)) };
  const type = event.eventType as number;
  const fields = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  const state = await decodeMemo<StateMemo>(temporal, fields, STATE_MEMO);
  const inputRequests = await decodeMemo<Record<string, InputRequest>>(temporal, fields, INPUT_MEMO);
  const isCancelRequest = type === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED;
  const isClose = CLOSING_EVENTS.has(type);
  // The fourth event shows that a worker has taken the work.
  if (id !== INITIAL_EVENTS + 1 && !state && !isCancelRequest && !isClose) return undefined;
  return {
    id,
    at,
    ...(state ? { memo: shown(state) } : {}),
    ...(inputRequests ? { inputRequests } : {}),
    ...(isCancelRequest ? { isCancelRequest } : {}),
    ...(isClose ? { isClose } : {}),
  };
}

/** State that a run begins with. Trusted only if the workflow's own code continued as new: a client could make it up. */
async function beginning(
  temporal: TemporalClient,
  { workflowExecutionStartedEventAttributes: started }: HistoryEvent,
): Promise<Omit<StateHistoryEvent, 'id' | 'at'>> {
  const isLaterRun = Boolean(started?.continuedExecutionRunId);
  const isContinuation =
    isLaterRun && started?.initiator === ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW;
  const fields = started?.memo?.fields;
  const start = await decodeMemo<StartMemo>(temporal, fields, START_MEMO);
  const state = isContinuation ? await decodeMemo<StateMemo>(temporal, fields, STATE_MEMO) : undefined;
  return {
    ...(state ? { memo: shown(state), inputRequests: {} } : {}),
    ...(start?.queue !== undefined && state?.turnAt === undefined ? { beginsWaiting: true } : {}),
    ...(isLaterRun ? { isLaterRun } : {}),
    ...(state?.cancelRequestedAt === undefined ? {} : { isCancelRequest: true }),
  };
}

function shown({ stage, turnAt }: StateMemo): NonNullable<StateHistoryEvent['memo']> {
  return defined({ stage, turnAt });
}

export type OperationStateEvent =
  | {
      kind: 'status';
      status: OperationStatus;
      stage?: string;
      isCancelRequested: boolean;
      /** Whether earlier events are missing because their run is no longer kept. */
      isGap?: true;
      at: string;
    }
  | { kind: 'input_required'; key: string; request: InputRequest; at: string };

/** Applies a history event to the delivered state. @param ending status of the closed operation */
export function applyStateEvent(
  before: DeliveredState,
  event: StateHistoryEvent,
  ending: OperationStatus,
): { state: DeliveredState; events: OperationStateEvent[] } {
  const { memo, at, isLaterRun = false } = event;
  const isCancelRequested =
    event.isCancelRequest === true || (!isLaterRun && before.isCancelRequested === true);
  const asked = event.inputRequests && Object.entries(event.inputRequests);
  const wasAsking = before.status === 'input_required' || before.questions !== '';
  const isAsking = asked ? asked.length > 0 : !isLaterRun && wasAsking;
  const isWaiting = event.beginsWaiting ?? (before.isWaiting && memo?.turnAt === undefined);
  const isUntaken = event.id <= INITIAL_EVENTS && !isLaterRun && UNTAKEN.has(before.status);
  const status: OperationStatus = event.isClose
    ? ending
    : isUntaken || (isWaiting && !isCancelRequested)
      ? 'submitted'
      : isAsking && !isCancelRequested
        ? 'input_required'
        : 'working';
  const stage = memo ? memo.stage && textDigest(memo.stage) : before.stage;
  const state: DeliveredState = {
    status,
    questions: asked ? asked.map(([key]) => nameDigest(key)).join('') : isLaterRun ? '' : before.questions,
    stage,
    ...(isCancelRequested ? { isCancelRequested } : {}),
    ...(isWaiting ? { isWaiting } : {}),
  };
  const hasChanged =
    status !== before.status || stage !== before.stage || isCancelRequested !== !!before.isCancelRequested;
  const questions = isTerminal(status) || isCancelRequested ? [] : (asked ?? []);
  const known = nameDigestsIn(before.questions);
  return {
    state,
    events: [
      ...(hasChanged
        ? [
            {
              kind: 'status' as const,
              status,
              ...(memo?.stage === undefined ? {} : { stage: memo.stage }),
              isCancelRequested,
              at,
            },
          ]
        : []),
      ...questions
        .filter(([key]) => !known.has(nameDigest(key)))
        .map(([key, request]) => ({ kind: 'input_required' as const, key, request, at })),
    ],
  };
}

/**
 * The current state of a run, for readers who don't know its past.
 *
 * @param events all of the run's events
 * @returns the event that reports the state without its questions, the place in history before them, and the last event that it reports
 */
export function snapshotOf(events: StateHistoryEvent[]): {
  event: OperationStateEvent & { kind: 'status' };
  after: number;
  statusUntil: number;
  state: DeliveredState;
} {
  const open = events.filter(({ isClose }) => !isClose);
  const latest = open.at(-1)!;
  const last = open.findLast(({ memo }) => memo);
  const asked = open.findLast(({ inputRequests }) => inputRequests);
  let { state } = startPosition('');
  for (const event of open) ({ state } = applyStateEvent(state, event, 'unknown'));
  const { stage } = last?.memo ?? {};
  const { status, isCancelRequested = false } = state;
  return {
    event: { kind: 'status', status, stage, isCancelRequested, at: latest.at },
    after: asked ? asked.id - 1 : latest.id,
    statusUntil: latest.id,
    state: { ...state, questions: '' },
  };
}

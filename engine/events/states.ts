/** State events of an operation, from its history: the same events in the same order for every reader at any time. */
import { createHash } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { defined } from '../../operations/defined.js';
import { isTerminal, type InputRequest, type OperationStatus } from '../../operations/record.js';
import { START_MEMO, STATE_MEMO, type StartMemo, type StateMemo } from '../../operations/wire.js';
import { CLOSING_EVENTS, eventsFromEnd, INITIAL_EVENTS, toDate, type HistoryEvent } from '../history.js';
import type { TemporalClient } from '../temporal.js';
import type { DeliveredState } from './position.js';

const { EventType } = proto.temporal.api.enums.v1;

/** Maximum number of events per page from the beginning. */
const PAGE_EVENTS = 1_000;
/** Deadline for reading a page, in milliseconds. */
const PAGE_DEADLINE_MS = 10_000;

/** History event that may change the state. */
export interface StateHistoryEvent {
  id: number;
  /** ISO 8601, UTC. */
  at: string;
  /** State that the workflow wrote. */
  memo?: Pick<StateMemo, 'stage' | 'inputRequests' | 'turnAt'>;
  /** Start of a run that waits for its turn in a queue. */
  beginsWaiting?: true;
  isCancelRequest?: true;
  isClose?: true;
}

/**
 * Reads the events after a given one, oldest first. Reads from the end, so that the cost depends on the new events only.
 *
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function stateEventsAfter(
  temporal: TemporalClient,
  workflowId: string,
  runId: string,
  after: number,
): Promise<StateHistoryEvent[]> {
  const found: StateHistoryEvent[] = [];
  const pageEvents = after === 0 ? PAGE_EVENTS : undefined;
  const run = { workflowId, runId };
  for await (const event of eventsFromEnd(temporal, run, Infinity, pageEvents, PAGE_DEADLINE_MS)) {
    const id = Number(event.eventId);
    if (id <= after) break;
    const type = event.eventType as number;
    const fields = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
    const memo = fields?.[STATE_MEMO] ? await decodeStateMemo(temporal, fields[STATE_MEMO]) : undefined;
    const isCancelRequest = type === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED;
    const isClose = CLOSING_EVENTS.has(type);
    // The first event is the start; the fourth shows that a worker has taken the work.
    if (id !== 1 && id !== INITIAL_EVENTS + 1 && !memo && !isCancelRequest && !isClose) continue;
    const beginsWaiting = id === 1 && (await waitsFirst(temporal, event));
    found.push({
      id,
      at: toDate(event.eventTime ?? {}).toISOString(),
      ...(beginsWaiting ? { beginsWaiting } : {}),
      ...(memo ? { memo } : {}),
      ...(isCancelRequest ? { isCancelRequest } : {}),
      ...(isClose ? { isClose } : {}),
    });
  }
  return found.reverse();
}

/** Decodes the state memo without its other fields, which may be large. */
async function decodeStateMemo(
  temporal: TemporalClient,
  payload: Payload,
): Promise<StateHistoryEvent['memo']> {
  const decoded = await decodeMapFromPayloads(temporal.dataConverter, { [STATE_MEMO]: payload });
  const { stage, inputRequests, turnAt } = decoded?.[STATE_MEMO] as StateMemo;
  return defined({ stage, inputRequests, turnAt });
}

/** Whether a run begins in a queue, by its start event; one that continues another has its turn already. */
async function waitsFirst(temporal: TemporalClient, event: HistoryEvent): Promise<boolean> {
  const fields = event.workflowExecutionStartedEventAttributes?.memo?.fields;
  const memo = await decodeMapFromPayloads(temporal.dataConverter, fields);
  const isQueued = (memo?.[START_MEMO] as StartMemo | undefined)?.queue !== undefined;
  return isQueued && (memo?.[STATE_MEMO] as StateMemo | undefined)?.turnAt === undefined;
}

/** State event for readers. */
export type OperationStateEvent =
  | {
      kind: 'status';
      status: OperationStatus;
      stage?: string;
      isCancelRequested: boolean;
      at: string;
    }
  | { kind: 'input_required'; key: string; request: InputRequest; at: string };

/**
 * Applies a history event to the delivered state.
 *
 * @param ending status of the closed operation
 * @returns the new state, and the events for readers
 */
export function applyStateEvent(
  before: DeliveredState,
  event: StateHistoryEvent,
  ending: OperationStatus,
): { state: DeliveredState; events: OperationStateEvent[] } {
  const { memo, at } = event;
  const isCancelRequested = before.isCancelRequested === true || event.isCancelRequest === true;
  const asked = Object.entries(memo?.inputRequests ?? {});
  const isAsking = memo ? asked.length > 0 : before.status === 'input_required';
  const isWaiting = event.beginsWaiting ?? (before.isWaiting && memo?.turnAt === undefined);
  const status: OperationStatus = event.isClose
    ? ending
    : event.id <= INITIAL_EVENTS || (isWaiting && !isCancelRequested)
      ? 'submitted'
      : isAsking && !isCancelRequested
        ? 'input_required'
        : 'working';
  const stage = memo ? memo.stage && digest(memo.stage) : before.stage;
  const state: DeliveredState = {
    status,
    question: Math.max(before.question, ...asked.map(([key]) => questionNumber(key))),
    ...(stage === undefined ? {} : { stage }),
    ...(isCancelRequested ? { isCancelRequested } : {}),
    ...(isWaiting ? { isWaiting } : {}),
  };
  const hasChanged =
    status !== before.status || stage !== before.stage || isCancelRequested !== !!before.isCancelRequested;
  const questions = isTerminal(status) || isCancelRequested ? [] : asked;
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
        .filter(([key]) => questionNumber(key) > before.question)
        .map(([key, request]) => ({ kind: 'input_required' as const, key, request, at })),
    ],
  };
}

/** Number in the key of an input request: 3 for `input-3`. */
function questionNumber(key: string): number {
  return Number(/\d+$/.exec(key)?.[0] ?? 0);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** States of an operation as its history has them: the same events, in the same order, whoever reads it and when. */
import { createHash } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { isTerminal, type InputRequest, type OperationStatus } from '../../operations/record.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire.js';
import { CLOSING_EVENTS, toDate } from '../history.js';
import type { TemporalClient } from '../temporal.js';
import type { ToldState } from './position.js';

const { EventType } = proto.temporal.api.enums.v1;

/** Most events of a page. */
const PAGE_EVENTS = 1_000;
/** How long reading a page may take, in milliseconds. */
const PAGE_DEADLINE_MS = 10_000;
/** Events up to here are there before a worker has taken the work. */
const UNTOUCHED_EVENTS = 3;

/** An event of history that tells something of the state. */
export interface StateEvent {
  id: number;
  /** ISO 8601, UTC. */
  at: string;
  /** What the workflow wrote of its state. */
  memo?: Pick<StateMemo, 'stage' | 'inputRequests'>;
  isCancelRequest?: true;
  isClose?: true;
}

/**
 * The events after one, oldest first. Read from the end, so that it costs as much as there is to tell.
 *
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function stateEventsAfter(
  temporal: TemporalClient,
  workflowId: string,
  runId: string,
  after: number,
): Promise<StateEvent[]> {
  const found: StateEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await temporal.call(
      (client) =>
        client.workflowService.getWorkflowExecutionHistoryReverse({
          namespace: temporal.namespace,
          execution: { workflowId, runId },
          maximumPageSize: after === 0 ? PAGE_EVENTS : 100,
          ...(nextPageToken ? { nextPageToken } : {}),
        }),
      PAGE_DEADLINE_MS,
    );
    for (const event of page.history?.events ?? []) {
      const id = Number(event.eventId);
      if (id <= after) return found.reverse();
      const type = event.eventType as number;
      const fields = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
      const memo = fields?.[STATE_MEMO] ? await shownOf(temporal, fields[STATE_MEMO]) : undefined;
      const isCancelRequest = type === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED;
      const isClose = CLOSING_EVENTS.has(type);
      // The first is the start, the fourth the one by which a worker has taken the work.
      if (id !== 1 && id !== UNTOUCHED_EVENTS + 1 && !memo && !isCancelRequest && !isClose) continue;
      found.push({
        id,
        at: toDate(event.eventTime ?? {}).toISOString(),
        ...(memo ? { memo } : {}),
        ...(isCancelRequest ? { isCancelRequest } : {}),
        ...(isClose ? { isClose } : {}),
      });
    }
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
  return found.reverse();
}

/** The rest of it may be large. */
async function shownOf(temporal: TemporalClient, payload: Payload): Promise<StateEvent['memo']> {
  const decoded = await decodeMapFromPayloads(temporal.dataConverter, { [STATE_MEMO]: payload });
  const { stage, inputRequests } = decoded?.[STATE_MEMO] as StateMemo;
  return {
    ...(stage === undefined ? {} : { stage }),
    ...(inputRequests === undefined ? {} : { inputRequests }),
  };
}

/** What an event tells readers. */
export type Telling =
  | {
      kind: 'status';
      status: OperationStatus;
      stage?: string;
      isCancelRequested: boolean;
      at: string;
    }
  | { kind: 'input_required'; key: string; request: InputRequest; at: string };

/**
 * What an event tells beyond what was told before.
 *
 * @param ending status of the closed operation
 */
export function tell(
  before: ToldState,
  event: StateEvent,
  ending: OperationStatus,
): { state: ToldState; tellings: Telling[] } {
  const { memo, at } = event;
  const isCancelRequested = before.isCancelRequested === true || event.isCancelRequest === true;
  const asked = Object.entries(memo?.inputRequests ?? {});
  const isAsking = memo ? asked.length > 0 : before.status === 'input_required';
  const status: OperationStatus = event.isClose
    ? ending
    : event.id <= UNTOUCHED_EVENTS
      ? 'submitted'
      : isAsking && !isCancelRequested
        ? 'input_required'
        : 'working';
  const stage = memo ? memo.stage && digest(memo.stage) : before.stage;
  const state: ToldState = {
    status,
    question: Math.max(before.question, ...asked.map(([key]) => numberOf(key))),
    ...(stage === undefined ? {} : { stage }),
    ...(isCancelRequested ? { isCancelRequested } : {}),
  };
  const isNews =
    status !== before.status || stage !== before.stage || isCancelRequested !== !!before.isCancelRequested;
  const questions = isTerminal(status) || isCancelRequested ? [] : asked;
  return {
    state,
    tellings: [
      ...(isNews
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
        .filter(([key]) => numberOf(key) > before.question)
        .map(([key, request]) => ({ kind: 'input_required' as const, key, request, at })),
    ],
  };
}

/** Questions are counted: `input-3`. */
function numberOf(key: string): number {
  return Number(/\d+$/.exec(key)?.[0] ?? 0);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Reads the history of one run, event by event, and follows it while the run is open. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodePayloads, type HistoryEvent } from '../../engine/history.js';
import type { Run } from '../../platform/executions.js';
import { EventDescriber, type DescribedEvent } from './described-event.js';

/** Deadline of a page of events, and of a long poll for the next ones, in milliseconds. */
const PAGE_LIMIT_MS = 10_000;
const POLL_LIMIT_MS = 70_000;

/**
 * Events of a run, oldest first.
 *
 * @param isFollowed whether to wait for further events until the run is closed
 * @throws WorkflowNotFoundError
 */
export async function* eventsOf(
  client: Client,
  execution: Run,
  isFollowed: boolean,
): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.withDeadline(Date.now() + (isFollowed ? POLL_LIMIT_MS : PAGE_LIMIT_MS), () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution,
        waitNewEvent: isFollowed,
        ...(nextPageToken ? { nextPageToken } : {}),
      }),
    );
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}

/** Describes events. @param withPayloads whether to decode arguments, results and other values, which may hold secrets */
export async function* describedEvents(
  client: Client,
  events: AsyncIterable<HistoryEvent>,
  withPayloads: boolean,
): AsyncGenerator<DescribedEvent> {
  const describer = new EventDescriber();
  const converter = { dataConverter: client.options.loadedDataConverter };
  for await (const event of events) {
    const { summary } = event.userMetadata ?? {};
    const [text] = summary ? await decodePayloads(converter, [summary]) : [];
    const described = describer.describe(event, typeof text === 'string' ? text : undefined);
    if (withPayloads) {
      const payloads: Record<string, unknown> = {};
      for (const [place, payload] of payloadsIn(attributesOf(event), ''))
        payloads[place] = await decoded(converter, payload);
      if (Object.keys(payloads).length) described.payloads = payloads;
    }
    yield described;
  }
}

/** The run that a command names: the given one, or the current. @throws WorkflowNotFoundError */
export async function findRun(client: Client, workflowId: string, runId: string | undefined): Promise<Run> {
  if (runId !== undefined && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(runId))
    throw new WorkflowNotFoundError(`expected a run ID`, workflowId, runId);
  const found = await client.workflow.getHandle(workflowId, runId).describe();
  return { workflowId, runId: found.runId };
}

async function decoded(converter: Parameters<typeof decodePayloads>[0], payload: Payload): Promise<unknown> {
  try {
    return (await decodePayloads(converter, [payload]))[0];
  } catch (error) {
    return { unreadable: (error as Error).message };
  }
}

function attributesOf(event: HistoryEvent): unknown {
  const [, attributes] =
    Object.entries(event).find(([name, value]) => name.endsWith('EventAttributes') && value) ?? [];
  return attributes;
}

/** Payloads of an event's attributes, by their place: `input`, `result`, `memo.operation`. */
function* payloadsIn(value: unknown, place: string): Generator<[string, Payload]> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && 'data' in value && value.metadata) {
    yield [place, value as Payload];
    return;
  }
  for (const [name, inner] of Object.entries(value as Record<string, unknown>)) {
    // Headers are Temporal's and the tracer's own.
    if (name === 'header') continue;
    const isAlone = Array.isArray(value) && value.length === 1;
    const isTransparent = isAlone || ['payloads', 'fields', 'indexedFields'].includes(name);
    yield* payloadsIn(inner, isTransparent ? place : [place, name].filter(Boolean).join('.'));
  }
}

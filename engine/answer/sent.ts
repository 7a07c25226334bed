/** Answers in the history of a run: the updates and signals that carried them, in the order the workflow takes them. */
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { isAction, isAnswerHeader, isProvidedInput } from '../../operations/answers.js';
import {
  ANSWER_HEADER,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  type AnswerHeader,
  type ProvidedInput,
} from '../../operations/wire/index.js';
import { decodePayloads, eventsFromEnd, toDate, type HistoryEvent } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';

const { EVENT_TYPE_WORKFLOW_TASK_COMPLETED } = proto.temporal.api.enums.v1.EventType;

/** Maximum number of history pages to read: for all answers, and for answers that no completed workflow task has seen. */
const MAX_PAGES = 5;
const MAX_UNTAKEN_PAGES = 20;

export interface SentAnswer {
  /** An external workflow's answer has a header instead of content. */
  given: ProvidedInput | AnswerHeader;
  /** ISO 8601. */
  at: string;
  /** Whether it came as a signal, not as an update. */
  isSignal: boolean;
  /** Whether a completed workflow task has seen the answer. */
  isTaken: boolean;
  /** Number of workflow tasks completed since: signals with the same number reached the workflow in one task. */
  tasksSince: number;
}

interface Range {
  /** Ignores later events. Default: none */
  lastEventId?: number;
  /** Reads only what no completed workflow task has seen: usually one page. Default: false */
  onlyUntaken?: boolean;
}

/**
 * Reads the answers in a run's history, oldest first. Temporal buffers a signal that comes during a workflow task, so it's missing until
 * the task ends. Updates are in the history once they are accepted.
 *
 * @param execution without a run ID: the current run
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function sentAnswers(
  temporal: TemporalClient,
  execution: { workflowId: string; runId?: string },
  { lastEventId = Infinity, onlyUntaken = false }: Range = {},
): Promise<SentAnswer[]> {
  const sent: SentAnswer[] = [];
  const failedUpdates = new Set<unknown>();
  let tasksSince = 0;
  const maxPages = onlyUntaken ? MAX_UNTAKEN_PAGES : MAX_PAGES;
  for await (const event of eventsFromEnd(temporal, execution, maxPages)) {
    if (Number(event.eventId) > lastEventId) continue;
    if (event.eventType === EVENT_TYPE_WORKFLOW_TASK_COMPLETED) {
      if (onlyUntaken) break;
      tasksSince += 1;
    }
    const { meta, outcome } = event.workflowExecutionUpdateCompletedEventAttributes ?? {};
    if (outcome?.failure) failedUpdates.add(meta?.updateId);
    const given = await answerIn(temporal, event);
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
    if (!given || (update && failedUpdates.has(update.meta?.updateId))) continue;
    const at = toDate(event.eventTime ?? {}).toISOString();
    const isSignal = event.workflowExecutionSignaledEventAttributes != null;
    sent.push({ given, at, isSignal, isTaken: tasksSince > 0 || update !== undefined, tasksSince });
  }
  return sent.reverse();
}

/** Whether an event may carry an answer that no worker takes for now. */
export function isSignalledAnswer({
  workflowExecutionSignaledEventAttributes: signaled,
}: HistoryEvent): boolean {
  return (
    signaled?.signalName === PROVIDE_INPUT_SIGNAL.name ||
    signaled?.header?.fields?.[ANSWER_HEADER] !== undefined
  );
}

/** The answer in an event; undefined if it has none, or a malformed one. */
async function answerIn(
  temporal: TemporalClient,
  {
    workflowExecutionSignaledEventAttributes: signaled,
    workflowExecutionUpdateAcceptedEventAttributes: accepted,
    // Temporal applies updates again after a reset.
    workflowExecutionUpdateAdmittedEventAttributes: admitted,
  }: HistoryEvent,
): Promise<SentAnswer['given'] | undefined> {
  const header = signaled?.header?.fields?.[ANSWER_HEADER];
  if (header) {
    const named = await Promise.resolve(header)
      .then(fromPayload)
      .catch(() => undefined);
    return isAnswerHeader(named) ? named : undefined;
  }
  const update = (accepted?.acceptedRequest ?? admitted?.request)?.input;
  const payloads =
    signaled?.signalName === PROVIDE_INPUT_SIGNAL.name
      ? signaled.input?.payloads
      : update?.name === PROVIDE_INPUT_UPDATE.name
        ? update.args?.payloads
        : undefined;
  if (!payloads) return undefined;
  // The workflow ignores unreadable answers too.
  const [value] = await decodePayloads(temporal, payloads).catch(() => []);
  return isProvidedInput(value) && isAction(value.answer.action) ? value : undefined;
}

const fromPayload = (payload: Parameters<typeof defaultPayloadConverter.fromPayload>[0]) =>
  defaultPayloadConverter.fromPayload<unknown>(payload);

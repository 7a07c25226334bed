/**
 * Passes the trace context in Temporal's headers along without reading it: spans are made outside of the sandbox. Without the
 * header, nothing changes.
 */
import {
  CancelledFailure,
  ContinueAsNew,
  proxySinks,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { Headers, Payload } from '@temporalio/common';
import { TRACE_HEADER } from '../../operations/wire/index.js';
import { TRACE_SINK, type RunOutcome, type TraceSinks } from '../../operations/sinks.js';
import { isFinalFailure } from './final-failures.js';

type Inbound = NonNullable<WorkflowInterceptors['inbound']>[number];
export type Outbound = NonNullable<WorkflowInterceptors['outbound']>[number];

/** Header of the start. */
let started: Payload | undefined;

/** Reports ends to the worker, except during replay. */
function report(send: (sink: TraceSinks[typeof TRACE_SINK]) => void): void {
  if (!workflowInfo().unsafe.isReplaying) send(proxySinks<TraceSinks>()[TRACE_SINK]);
}

/** Observes the ends of the run and of messages to it without delaying them, which keeps the order of commands. */
export const traceInbound: Inbound = {
  execute(input, next) {
    started = input.headers[TRACE_HEADER];
    const ended = next(input);
    const header = started;
    if (!header) return ended;
    const runEnded = (outcome: RunOutcome | undefined) => {
      if (outcome !== undefined) report((sink) => sink.runEnded(header, outcome));
    };
    ended.then(
      () => runEnded('completed'),
      (error: unknown) => runEnded(outcomeOf(error)),
    );
    return ended;
  },
  handleUpdate(input, next) {
    const handled = next(input);
    return noted('HandleUpdate', input.name, input.headers, handled);
  },
  handleSignal(input, next) {
    const handled = next(input);
    return noted('HandleSignal', input.signalName, input.headers, handled);
  },
};

/** Undefined if the run isn't over, because only the workflow task failed. */
function outcomeOf(error: unknown): RunOutcome | undefined {
  if (error instanceof ContinueAsNew) return 'continued_as_new';
  if (error instanceof CancelledFailure) return 'canceled';
  return isFinalFailure(error) ? 'failed' : undefined;
}

function noted<T>(
  kind: 'HandleUpdate' | 'HandleSignal',
  name: string,
  headers: Headers,
  handled: Promise<T>,
): Promise<T> {
  const header = headers[TRACE_HEADER];
  if (!header) return handled;
  const beganMs = workflowInfo().unsafe.now();
  const note = (isFailed: boolean) => () =>
    report((sink) => sink.messageHandled(header, `${kind}:${name}`, beganMs, isFailed));
  handled.then(note(false), note(true));
  return handled;
}

export const traceOutbound: Outbound = {
  scheduleActivity: (input, next) => next(withHeader(input)),
  scheduleLocalActivity: (input, next) => next(withHeader(input)),
  startChildWorkflowExecution: (input, next) => next(withHeader(input)),
  continueAsNew: (input, next) => next(withHeader(input)),
};

function withHeader<Input extends { readonly headers: Headers }>(input: Input): Input {
  if (!started || TRACE_HEADER in input.headers) return input;
  return { ...input, headers: { ...input.headers, [TRACE_HEADER]: started } };
}

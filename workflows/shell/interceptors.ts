/**
 * The shell: what makes an ordinary workflow an operation. It is a workflow interceptor and not a wrapper that
 * authors call, so that the workflow function stays theirs and nobody can forget it. Workflows without
 * Longhaul's marker are left alone.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  defaultPayloadConverter,
  ParentClosePolicy,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { MARKER_MEMO, OPERATION_HEADER, STATE_MEMO, tokenOf } from '../../operations/wire.js';
import { isReportedResult, reportInFailure, withoutReport } from '../../operations/report.js';
import { canceled, failed, isFinalFailure, timedOut } from './closing.js';
import { isTimeUp, runDeadline, saveRemaining } from './deadline.js';
import { registerHandlers } from './handlers.js';
import { activityScheduled, countFirstQueue } from './queue.js';
import {
  change,
  cleanups,
  close,
  countAsWork,
  flush,
  foldProgress,
  marker,
  state,
  type Cleanup,
} from './state.js';

/** How long work that doesn't react to the end of its time may go on, in milliseconds. */
const STOP_GRACE_MS = 20_000;

/** Longer than an outage of Temporal that should harm no healthy work, in milliseconds. */
const HEARTBEAT_TIMEOUT_MS = 60_000;

export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [{ execute: forOperations(execute) }],
    outbound: [
      {
        scheduleActivity: forOperations(scheduleActivity),
        startChildWorkflowExecution: forOperations(startChildWorkflowExecution),
        continueAsNew: forOperations(continueAsNew),
      },
    ],
  };
}

/** The memo, with Longhaul's marker, isn't there yet when interceptors are made: each looks when it is called. */
function forOperations<I, R>(
  intercept: (input: I, next: (input: I) => R) => R,
): (input: I, next: (input: I) => R) => R {
  return (input, next) => (marker() ? intercept(input, next) : next(input));
}

type Inbound = NonNullable<NonNullable<WorkflowInterceptors['inbound']>[number]['execute']>;
type Outbound = NonNullable<WorkflowInterceptors['outbound']>[number];

const execute: Inbound = async (input, next) => {
  const main = new CancellationScope();
  let ending: 'canceled' | 'timed_out' | undefined;
  const end = (how: 'canceled' | 'timed_out') => {
    ending ??= how;
    main.cancel();
  };
  registerHandlers();
  countFirstQueue();
  CancellationScope.current().cancelRequested.catch(() => end('canceled'));
  const deadline = CancellationScope.nonCancellable(() => runDeadline(STOP_GRACE_MS, () => end('timed_out')));

  let result: unknown;
  let failure: unknown;
  try {
    result = await Promise.race([main.run(() => next(input)), deadline]);
  } catch (error) {
    if (error instanceof ContinueAsNew) {
      // A cancel, or the end of the time, that came in the same moment must not get lost with this run.
      if (isTimeUp()) end('timed_out');
      if (ending === undefined) throw error;
    }
    // Temporal's rule: anything but a failure of its own kinds is a defect of the workflow's code, which blocks
    // the workflow until the code is mended. The operation isn't over, so nothing is cleaned up.
    if (!isFinalFailure(error) && ending === undefined) throw error;
    failure = error;
  }
  if (ending === undefined && failure === undefined) {
    close('completed');
    return result;
  }
  const how = ending ?? 'failed';
  await CancellationScope.nonCancellable(() => cleanUp(how));
  if (failure === undefined && state().partial === undefined) change({ partial: result });
  close(how);
  throw how === 'canceled' ? canceled() : how === 'timed_out' ? timedOut() : failed(failure);
};

async function cleanUp(reason: Parameters<Cleanup>[0]): Promise<void> {
  for (const work of cleanups.reverse()) {
    try {
      await work(reason);
    } catch (error) {
      if (!isFinalFailure(error)) throw error;
      // One cleanup that fails must not keep the others, or the operation's own end, from coming.
    }
  }
}

const scheduleActivity: NonNullable<Outbound['scheduleActivity']> = (input, next) =>
  countAsWork(async () => {
    const options = { ...input.options };
    options.heartbeatTimeout ??= HEARTBEAT_TIMEOUT_MS;
    options.summary ??= state().stage ?? input.activityType.replaceAll('_', ' ');
    const headers = { ...input.headers, [OPERATION_HEADER]: defaultPayloadConverter.toPayload(ownToken()) };
    const ended = activityScheduled();
    let result: unknown;
    try {
      result = await next({ ...input, options, headers });
    } catch (error) {
      ended(0);
      takeReport(error);
      throw error;
    }
    if (!isReportedResult(result)) {
      ended(0);
      return result;
    }
    ended(result.queuedMs ?? 0);
    if (result.progress) foldProgress(result.progress, true);
    return result.result;
  });

const startChildWorkflowExecution: NonNullable<Outbound['startChildWorkflowExecution']> = (input, next) =>
  next({
    ...input,
    options: {
      ...input.options,
      parentClosePolicy: input.options.parentClosePolicy ?? ParentClosePolicy.REQUEST_CANCEL,
    },
  });

const continueAsNew: NonNullable<Outbound['continueAsNew']> = (input, next) => {
  flush();
  saveRemaining();
  const createdAt = marker()?.createdAt ?? workflowInfo().startTime.toISOString();
  const { children: _children, ...carried } = state();
  const memo = {
    ...input.options.memo,
    [MARKER_MEMO]: { ...marker(), createdAt },
    [STATE_MEMO]: { ...carried, inputRequests: {} },
  };
  return next({ ...input, options: { ...input.options, memo } });
};

function ownToken(): string {
  return tokenOf(marker()!.principal, workflowInfo().workflowId);
}

/** What an activity had reported when it failed counts; its author's code sees only the details that are its own. */
function takeReport(error: unknown): void {
  const failure = error instanceof ActivityFailure ? error.cause : undefined;
  const progress = reportInFailure(failure);
  if (progress) foldProgress(progress, false);
  if (failure instanceof ApplicationFailure || failure instanceof CancelledFailure)
    Object.assign(failure, { details: withoutReport(failure.details) });
}

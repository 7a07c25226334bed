/**
 * The shell: what makes an ordinary workflow an operation, and its child workflows parts of it. It is a workflow
 * interceptor and not a wrapper that authors call, so that the workflow function stays theirs and nobody can forget it.
 * Workflows without Longhaul's memo are left alone.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  defaultPayloadConverter,
  ParentClosePolicy,
  patched,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import {
  LOG_CONTEXT_HEADER,
  START_MEMO,
  OPERATION_HEADER,
  OPERATION_ID_HEADER,
  PART_MEMO,
  STATE_MEMO,
  type LogContext,
  type PartMemo,
} from '../../operations/wire.js';
import {
  isReportedResult,
  reportInFailure,
  withoutReport,
  type ReportedResult,
} from '../../operations/report.js';
import { canceled, failed, isFinalFailure, timedOut } from './closing.js';
import { isTimeUp, runDeadline, saveRemaining } from './deadline.js';
import { registerHandlers } from './handlers.js';
import { beginPart, endPart, foldClosedPart, notifyParent, partName } from './parts.js';
import { activityScheduled, countFirstQueue } from './queue.js';
import {
  change,
  cleanups,
  close,
  countAsWork,
  flush,
  foldProgress,
  marker,
  operation,
  part,
  state,
  type Cleanup,
} from './state.js';

/** How long work that doesn't react to the end of its time may go on, in milliseconds. */
const STOP_GRACE_MS = 20_000;

/** Patch of workflows whose child workflows are parts; those that began before ran theirs alone. */
const PARTS_PATCH = 'longhaul-parts';

/** Longer than an outage of Temporal that should harm no healthy work, in milliseconds. */
const HEARTBEAT_TIMEOUT_MS = 60_000;

export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [{ execute: forOperations(execute) }],
    outbound: [
      {
        scheduleActivity: forOperations(scheduleActivity),
        scheduleLocalActivity: forOperations(scheduleLocalActivity),
        startChildWorkflowExecution: forOperations(startChildWorkflowExecution),
        continueAsNew: forOperations(continueAsNew),
      },
    ],
  };
}

/** For operations and their parts. The memo isn't there yet when interceptors are made: each looks when it is called. */
function forOperations<I, R>(
  intercept: (input: I, next: (input: I) => R) => R,
): (input: I, next: (input: I) => R) => R {
  return (input, next) => ((marker() ?? part()) ? intercept(input, next) : next(input));
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
  // A part's time is its operation's: it only says whether it waits for people alone.
  const deadline = CancellationScope.nonCancellable(() =>
    part() ? notifyParent() : runDeadline(STOP_GRACE_MS, () => end('timed_out')),
  );

  let result: unknown;
  let failure: unknown;
  try {
    result = await Promise.race([main.run(() => next(input)), deadline]);
  } catch (error) {
    if (error instanceof ContinueAsNew) {
      // A cancel, or the end of the time, that came in the same moment must not get lost with this run.
      if (!part() && isTimeUp()) end('timed_out');
      if (ending === undefined) throw error;
    }
    // Temporal's rule: anything but a failure of its own kinds is a defect of the workflow's code, which blocks
    // the workflow until the code is mended. The operation isn't over, so nothing is cleaned up.
    if (!isFinalFailure(error) && ending === undefined) throw error;
    failure = error;
  }
  if (ending === undefined && failure === undefined) {
    close('completed');
    return part() ? withProgress(result) : result;
  }
  const how = ending ?? 'failed';
  await CancellationScope.nonCancellable(() => cleanUp(how));
  if (failure === undefined && state().partial === undefined) change({ partial: result });
  close(how);
  // The parent's code takes a part's failure as Temporal gives it.
  if (part() && how === 'failed') throw failure;
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

/** A part's result travels with its progress, as an activity's does. */
function withProgress(result: unknown): unknown {
  const { progress } = state();
  return progress ? ({ longhaul: 'result', progress, result } satisfies ReportedResult) : result;
}

const scheduleActivity: NonNullable<Outbound['scheduleActivity']> = (input, next) => {
  const options = { ...input.options };
  options.heartbeatTimeout ??= HEARTBEAT_TIMEOUT_MS;
  options.summary ??= state().stage ?? input.activityType.replaceAll('_', ' ');
  return runActivity(() => next({ ...input, options, headers: { ...input.headers, ...ownHeaders() } }));
};

const scheduleLocalActivity: NonNullable<Outbound['scheduleLocalActivity']> = (input, next) =>
  runActivity(() => next({ ...input, headers: { ...input.headers, ...ownHeaders() } }));

/** Runs an activity, and takes what it has reported as it ends. */
function runActivity(run: () => Promise<unknown>): Promise<unknown> {
  return countAsWork(async () => {
    const ended = activityScheduled();
    let result: unknown;
    try {
      result = await run();
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
}

function ownHeaders() {
  const { token, operationId, tool } = operation();
  const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
  const context: LogContext = {
    ...(tool === undefined ? {} : { tool }),
    ...(part() ? { part: part()!.name } : {}),
  };
  return {
    [OPERATION_HEADER]: toPayload(token),
    [LOG_CONTEXT_HEADER]: toPayload(context),
    ...(part() ? { [OPERATION_ID_HEADER]: toPayload(operationId) } : {}),
  };
}

const startChildWorkflowExecution: NonNullable<Outbound['startChildWorkflowExecution']> = async (
  input,
  next,
) => {
  const { workflowId, parentClosePolicy = ParentClosePolicy.REQUEST_CANCEL } = input.options;
  const options = { ...input.options, parentClosePolicy };
  // One that is to outlive its parent is a workflow of its own.
  const isPart = parentClosePolicy !== ParentClosePolicy.ABANDON && patched(PARTS_PATCH);
  if (!isPart) return next({ ...input, options });
  const name = partName(workflowId, input.workflowType);
  const memo: PartMemo = { version: 1, ...operation(), name };
  const own = beginPart(workflowId, name);
  const [started, completed] = await next({
    ...input,
    options: { ...options, memo: { ...options.memo, [PART_MEMO]: memo } },
  });
  let hasStarted = false;
  started.then(
    () => (hasStarted = true),
    () => undefined,
  );
  const taken = completed.then(
    (result) => {
      endPart(own);
      if (!isReportedResult(result)) return result;
      if (result.progress) foldProgress(result.progress, true);
      return result.result;
    },
    async (failure: unknown) => {
      endPart(own, failure);
      if (hasStarted) await CancellationScope.nonCancellable(() => foldClosedPart(workflowId));
      throw failure;
    },
  );
  taken.catch(() => undefined);
  return [started, taken];
};

const continueAsNew: NonNullable<Outbound['continueAsNew']> = (input, next) => {
  flush();
  saveRemaining();
  const createdAt = marker()?.createdAt ?? workflowInfo().startTime.toISOString();
  const { children: _children, ...carried } = state();
  const memo = {
    ...input.options.memo,
    ...(part() ? { [PART_MEMO]: part() } : { [START_MEMO]: { ...marker(), createdAt } }),
    [STATE_MEMO]: { ...carried, inputRequests: {} },
  };
  return next({ ...input, options: { ...input.options, memo } });
};

/** What an activity had reported when it failed counts; its author's code sees only the details that are its own. */
function takeReport(error: unknown): void {
  const failure = error instanceof ActivityFailure ? error.cause : undefined;
  const progress = reportInFailure(failure);
  if (progress) foldProgress(progress, false);
  if (failure instanceof ApplicationFailure || failure instanceof CancelledFailure)
    Object.assign(failure, { details: withoutReport(failure.details) });
}

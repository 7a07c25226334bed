/**
 * Interceptors that make an ordinary workflow an operation, and its child workflows parts of it, without a call in the author's
 * code. Workflows without Longhaul's memo pass through.
 */
import {
  CancellationScope,
  ContinueAsNew,
  defaultPayloadConverter,
  ParentClosePolicy,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { divideCleanup } from '../../operations/tool/budgets.js';
import { defined } from '../../operations/json/defined.js';
import {
  ANONYMOUS,
  LOG_CONTEXT_HEADER,
  START_MEMO,
  OPERATION_HEADER,
  OPERATION_ID_HEADER,
  PART_MEMO,
  SIGNATURE_HEADER,
  type LogContext,
  type PartMemo,
} from '../../operations/wire/index.js';
import { isReportedResult } from '../../operations/wire/report.js';
import { isCarriedState, type CarriedState } from '../../operations/wire/state.js';
import {
  isCancelRequested,
  noteCancelRequest,
  canceledFailure,
  failureWithDetails,
  isFinalFailure,
  losesDetails,
  timedOutFailure,
  toError,
  runCleanups,
} from './final-failures.js';
import { countTime, isTimeUp, runDeadline, saveRemainingTime, startClock } from './deadline.js';
import { refuseUnverified, registerHandlers } from './handlers.js';
import {
  beginPart,
  endPart,
  addProgressOfClosedPart,
  notifyOfRefusals,
  notifyParent,
  partName,
} from './parts.js';
import { runActivity, unawaitedCalls, countFirstQueueTime } from './activity-calls.js';
import { startedMs } from './measure.js';
import { traceInbound, traceOutbound, type Outbound } from './trace.js';
import { hasQueue, returnTurn, takeTurn } from './turn.js';
import { assertOwnStart, assertScheduledStart, newOriginMemo, ofOrigin, originMemo } from './signature.js';
import { showDetails } from './current-details.js';
import { log, warnOfHistory } from './log.js';
import {
  failureOfArguments,
  failureOfResult,
  isInvalidOutput,
  keepResult,
  takeDeclaredOutput,
  withDeclaredOutput,
  withMetadata,
  withoutLoss,
  withProgress,
} from './values.js';
import { boundMemos } from './memo.js';
import {
  addStateToMemo,
  changeState,
  commandsOfChanges,
  continuedState,
  continueState,
  endRun,
  holdProgress,
  addProgress,
  isContinued,
  startMemo,
  operation,
  partMemo,
  state,
} from './state.js';

/** Default heartbeat timeout of activities on Longhaul's workers, in milliseconds: longer than a short outage of Temporal. */
const HEARTBEAT_TIMEOUT_MS = 60_000;

export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [traceInbound, { execute: forOperations(execute) }],
    outbound: [
      traceOutbound,
      {
        scheduleActivity: forOperations(scheduleActivity, ofOrigin.scheduleActivity),
        scheduleLocalActivity: forOperations(scheduleLocalActivity, ofOrigin.scheduleLocalActivity),
        startChildWorkflowExecution: forOperations(
          startChildWorkflowExecution,
          ofOrigin.startChildWorkflowExecution,
        ),
        continueAsNew: forOperations(continueAsNew, ofOrigin.continueAsNew),
      },
    ],
    internals: [{ activate: noteCancelRequest, concludeActivation: forOperations(concludeActivation) }],
  };
}

type Intercept<I, R> = (input: I, next: (input: I) => R) => R;

/** Applies an interceptor only to operations and their parts. Reads the memo on each call, because it isn't set at creation. */
function forOperations<I, R>(
  intercept: Intercept<I, R>,
  ofOthers: Intercept<I, R> = (input, next) => next(input),
): Intercept<I, R> {
  return (input, next) => {
    if (startMemo() ?? partMemo()) return intercept(input, next);
    return originMemo() ? ofOthers(input, next) : next(input);
  };
}

type Inbound = NonNullable<NonNullable<WorkflowInterceptors['inbound']>[number]['execute']>;

type Internals = NonNullable<WorkflowInterceptors['internals']>[number];

const execute: Inbound = async (input, next) => {
  const root = CancellationScope.current();
  let hasExpired = false;
  // Called twice if the work continues as new in the activation of the deadline's timer.
  const expire = () => {
    hasExpired ||= !root.consideredCancelled;
    root.cancel();
  };
  const endedBefore = () => (hasExpired ? 'timed_out' : root.consideredCancelled ? 'canceled' : undefined);
  const args = withoutCarriedState(input.args);
  assertOwnStart(args);
  takeDeclaredOutput(input.headers);
  registerHandlers();
  countFirstQueueTime();
  const turn = hasQueue() ? takeTurn() : undefined;
  const ready = turn ? turn.then(assertScheduledStart) : assertScheduledStart();
  const begin = () => {
    startClock();
    return next({ ...input, args });
  };
  const work = ready ? ready.then(begin) : begin();
  const worked = new Promise((resolve, reject) => {
    work.then(resolve, reject);
    const { stopMs } = divideCleanup(operation().cleanupSeconds);
    const untilDeadline = () => runDeadline(stopMs, expire, () => resolve(undefined));
    // A part has no deadline. It notifies its parent while it waits only for people.
    CancellationScope.nonCancellable(() =>
      partMemo() ? notifyParent() : ready ? ready.then(untilDeadline, () => undefined) : untilDeadline(),
    ).catch(reject);
  });

  let result: unknown;
  let failure: unknown;
  try {
    result = await worked;
  } catch (error) {
    if (error instanceof ContinueAsNew) {
      // A cancel or deadline in the same workflow task must not get lost with this run.
      if (!partMemo() && isTimeUp()) expire();
      if (endedBefore() === undefined) {
        endRun('continued');
        throw error;
      }
    }
    // Temporal's rule: any error but a TemporalFailure is a defect that blocks the workflow until its code is fixed. The
    // operation isn't over, so nothing is cleaned up.
    if (!isFinalFailure(error) && endedBefore() === undefined) throw toError(error);
    failure = error;
  }
  if (endedBefore() === undefined && failure === undefined) {
    failure = failureOfResult(result);
    if (isInvalidOutput(failure)) await keepResult(result);
  }
  let cause: 'canceled' | 'timed_out' | undefined = endedBefore();
  if (cause === undefined && failure === undefined) {
    if (turn) {
      holdProgress();
      await returnTurn();
    }
    const notice = endAnswers();
    if (notice) await notice;
    if (!isCancelRequested()) {
      endRun('completed');
      const unawaited = unawaitedCalls();
      if (unawaited) log.warn(`the workflow returned before ${unawaited} had ended: await each activity`);
      return partMemo() ? withProgress(result) : withMetadata(result, unawaited);
    }
    cause = 'canceled';
  }
  const reason = cause ?? 'failed';
  await CancellationScope.nonCancellable(() => runCleanups(reason));
  if (turn) await returnTurn();
  // A cancel request accepted during the cleanups is final too.
  const how = isCancelRequested() && !partMemo() ? 'canceled' : reason;
  if (failure === undefined && state().partial === undefined) changeState({ partial: withoutLoss(result) });
  const notice = endAnswers();
  if (notice) await notice;
  endRun(how);
  // The parent's code gets a part's failure unchanged.
  if (partMemo() && how === 'failed' && !losesDetails(failure)) throw failure;
  throw how === 'canceled'
    ? canceledFailure()
    : how === 'timed_out'
      ? timedOutFailure()
      : failureWithDetails(failure);
};

/**
 * Takes over the state that the run before has added to the arguments. Only the workflow's own code may pass it on: Temporal gives it to
 * retries and cron runs too, and a client could forge it.
 */
function withoutCarriedState(args: unknown[]): unknown[] {
  const last = args.at(-1);
  if (workflowInfo().continuedFromExecutionRunId === undefined || !isCarriedState(last)) return args;
  if (isContinued()) continueState(last.state);
  return args.slice(0, -1);
}

/** @returns undefined if there is nothing to wait for: an await alone would change the order of the run's last commands */
function endAnswers(): Promise<void> | undefined {
  refuseUnverified();
  return notifyOfRefusals();
}

/** Writes changes once per activation, because each write is an event of history. */
const concludeActivation: NonNullable<Internals['concludeActivation']> = ({ commands }, next) => {
  countTime();
  warnOfHistory();
  boundMemos(commands);
  addStateToMemo(commands);
  showDetails();
  return next({ commands: [...commandsOfChanges(), ...commands] });
};

const scheduleActivity: NonNullable<Outbound['scheduleActivity']> = (input, next) => {
  const options = { ...input.options };
  if (isOwnQueue(options.taskQueue)) options.heartbeatTimeout ??= HEARTBEAT_TIMEOUT_MS;
  options.summary ??= state().stage ?? input.activityType.replaceAll('_', ' ');
  return runActivity(input, () =>
    next({ ...input, options, headers: { ...input.headers, ...ownHeaders() } }),
  );
};

/** Whether Longhaul's workers poll a task queue: the workflow's own, and its hosts'. Others need not heartbeat. */
function isOwnQueue(taskQueue: string | undefined): boolean {
  const own = workflowInfo().taskQueue;
  return taskQueue === undefined || taskQueue === own || taskQueue.startsWith(`${own}:`);
}

const scheduleLocalActivity: NonNullable<Outbound['scheduleLocalActivity']> = (input, next) =>
  runActivity(input, () => next({ ...input, headers: { ...input.headers, ...ownHeaders() } }));

function ownHeaders() {
  const { token, operationId, tool, principal, startRequestId: requestId, signature } = operation();
  const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
  const context: LogContext = defined({
    ...{ tool, requestId, part: partMemo()?.name },
    principal: principal ?? ANONYMOUS,
    startedMs: state().progress ? undefined : startedMs(),
  });
  return {
    [OPERATION_HEADER]: toPayload(token),
    [LOG_CONTEXT_HEADER]: toPayload(context),
    ...(partMemo() ? { [OPERATION_ID_HEADER]: toPayload(operationId) } : {}),
    ...(signature === undefined ? {} : { [SIGNATURE_HEADER]: toPayload(signature) }),
  };
}

const startChildWorkflowExecution: NonNullable<Outbound['startChildWorkflowExecution']> = async (
  input,
  next,
) => {
  const { args = [], workflowId, parentClosePolicy = ParentClosePolicy.REQUEST_CANCEL } = input.options;
  const refused = failureOfArguments(args, `child workflow ${input.workflowType}`);
  if (refused) throw refused;
  const options = { ...input.options, parentClosePolicy };
  // A child that may outlive its parent is an independent workflow.
  if (parentClosePolicy === ParentClosePolicy.ABANDON)
    return next({ ...input, options: { ...options, memo: { ...options.memo, ...newOriginMemo() } } });
  const name = partName(workflowId, input.workflowType);
  const outer = partMemo();
  const path = outer && `${outer.path ?? outer.name}/${name}`;
  const memo: PartMemo = { version: 1, ...operation(), ...(path ? { path } : {}), name };
  options.workflowExecutionTimeout ??= remainingExecutionMs();
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
      if (result.progress) addProgress(result.progress, true);
      return result.result;
    },
    async (failure: unknown) => {
      endPart(own, failure);
      if (hasStarted) await CancellationScope.nonCancellable(() => addProgressOfClosedPart(workflowId));
      throw failure;
    },
  );
  taken.catch(() => undefined);
  return [started, taken];
};

/** Time until Temporal ends this workflow, in milliseconds. Keeps a part from outliving its operation when no worker is there. */
function remainingExecutionMs(): number | undefined {
  const expiresAt = workflowInfo().executionExpirationTime;
  return expiresAt && Math.max(1, expiresAt.getTime() - Date.now());
}

const continueAsNew: NonNullable<Outbound['continueAsNew']> = (input, next) => {
  const refused = failureOfArguments(input.args, 'continueAsNew()');
  if (refused) throw refused;
  refuseUnverified();
  saveRemainingTime();
  const createdAt = startMemo()?.createdAt ?? workflowInfo().startTime.toISOString();
  const memo = {
    ...input.options.memo,
    ...(partMemo() ? { [PART_MEMO]: partMemo() } : { [START_MEMO]: { ...startMemo(), createdAt } }),
  };
  const carried: CarriedState = { longhaul: 'state', state: continuedState() };
  return next({
    ...input,
    headers: withDeclaredOutput(input.headers),
    args: [...input.args, carried],
    options: { ...input.options, memo },
  });
};

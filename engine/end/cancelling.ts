/** Cancellation of operations. An operation stays open after the request until its running activities have stopped. */
import { randomUUID } from 'node:crypto';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { LonghaulError } from '../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { pendingActivityName } from '../read/blockage.js';
import { cancelCause } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';
import { traceCall } from '../temporal/trace-calls.js';
import { terminate } from '../read/terminated.js';
import { count, OTHER } from '../../platform/observe/metrics/index.js';

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/** Maximum wait for a cancelled operation to end, in milliseconds; killing a step takes less. */
const CANCELLATION_LIMIT_MS = 30_000;

interface Cancelled {
  temporal: TemporalClient;
  workflowId: string;
  /** Reads the operation, and checks its principal. */
  read: () => Promise<OperationRecord>;
}

/**
 * Requests cancellation; does nothing to a closed operation.
 *
 * @param signalOf signal that cancels a tool's workflow in place of Temporal's request
 * @returns whether the operation was open
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function cancelOperation(
  { temporal, workflowId, read }: Cancelled,
  reason: string | undefined,
  signalOf: (tool: string) => { name: string; args: unknown[] } | undefined,
): Promise<boolean> {
  const { status, tool, principal, progress, cancelRequestedAt } = await read();
  if (isTerminal(status)) return false;
  const signal = signalOf(tool);
  // Sent only once: an external workflow may not expect a second one.
  if (signal && cancelRequestedAt !== undefined) return true;
  if (signal) {
    const { name, args } = signal;
    const send = (client: TemporalClient['client']) =>
      client.workflow.getHandle(workflowId).signal(name, ...args);
    return isSent(() => temporal.callPlain(send), read);
  }
  const cause = cancelCause(reason, progress);
  const request = () =>
    temporal.call((client) =>
      traceCall('CancelWorkflow', 'RequestCancelWorkflowExecution', workflowId, () =>
        client.workflowService.requestCancelWorkflowExecution({
          namespace: temporal.namespace,
          workflowExecution: { workflowId },
          identity: principal,
          requestId: randomUUID(),
          reason: cause,
        }),
      ),
    );
  if (!(await isSent(request, read))) return false;
  // Temporal accepts a request for a run that has just closed, and does nothing.
  const after = await read();
  return !isTerminal(after.status) || after.status === 'canceled';
}

/**
 * Terminates an open operation at once, without its cleanups; does nothing to a closed one.
 *
 * @param by who forced it
 * @returns whether it was open
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function forceCancel(
  { temporal, workflowId, read }: Cancelled,
  by: string,
  reason: string | undefined,
): Promise<boolean> {
  const { status, tool } = await read();
  if (isTerminal(status)) return false;
  const message = `forced by ${by}, its cleanups did not run${reason ? `: ${reason}` : ''}`;
  if (!(await isSent(() => terminate(temporal, { workflowId }, 'canceled', message), read))) return false;
  count('longhaul_operations_closed_total', { tool: tool || OTHER, status: 'canceled' });
  return true;
}

/** Sends a request to an open operation. @returns false if it has closed meanwhile @throws what `send` does */
async function isSent(send: () => Promise<unknown>, read: () => Promise<OperationRecord>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (!isTerminal((await read()).status)) throw error;
    return false;
  }
}

function isCancelling({ status, cancelRequestedAt }: OperationRecord): boolean {
  return cancelRequestedAt !== undefined && !isTerminal(status);
}

/** Status message while an operation is being cancelled. @param blockage line of `describeBlockage` */
export async function cancellingMessage(
  temporal: TemporalClient,
  { pendingActivities, workflowExecutionInfo }: WorkflowExecutionDescription['raw'],
  { stage }: Pick<OperationRecord, 'stage'>,
  blockage: string | undefined,
): Promise<string> {
  if (blockage !== undefined) return `being cancelled; ${blockage}`;
  const running = (pendingActivities ?? []).filter(({ state }) => state !== PENDING_ACTIVITY_STATE_SCHEDULED);
  const [first] = running;
  if (!first) return 'being cancelled';
  const latest =
    stage ?? (await pendingActivityName(temporal, workflowExecutionInfo?.execution?.workflowId ?? '', first));
  const others = running.length > 1 ? ` and ${running.length - 1} more` : '';
  return `being cancelled; still running: ${latest}${others}`;
}

/**
 * Waits for an operation that is being cancelled to end; returns any other record unchanged.
 *
 * @param watch yields the record now and at each change
 * @throws LonghaulError `unavailable` if it hasn't ended within 30 s
 */
export async function awaitCancellation(
  record: OperationRecord,
  watch: (signal: AbortSignal) => AsyncIterable<OperationRecord>,
  signal?: AbortSignal,
): Promise<OperationRecord> {
  if (!isCancelling(record)) return record;
  const limit = AbortSignal.timeout(CANCELLATION_LIMIT_MS);
  let last = record;
  for await (last of watch(signal ? AbortSignal.any([signal, limit]) : limit))
    if (!isCancelling(last)) return last;
  throw new LonghaulError(
    'unavailable',
    `the operation has not ended yet: ${last.statusMessage ?? 'being cancelled'}. Resume it once it has ended`,
  );
}

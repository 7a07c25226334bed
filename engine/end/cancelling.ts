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

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/** Maximum wait for a cancelled operation to end, in milliseconds; killing a step takes less. */
const CANCELLATION_LIMIT_MS = 30_000;

/**
 * Requests cancellation; does nothing to a closed operation.
 *
 * @param read reads the operation, and checks its principal
 * @param signalOf signal that cancels a tool's workflow in place of Temporal's request
 * @returns whether the operation was open
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function cancelOperation(
  temporal: TemporalClient,
  workflowId: string,
  read: () => Promise<OperationRecord>,
  reason: string | undefined,
  signalOf: (tool: string) => { name: string; args: unknown[] } | undefined,
): Promise<boolean> {
  const record = await read();
  const { status, tool, principal, progress } = record;
  if (isTerminal(status)) return false;
  const signal = signalOf(tool);
  if (signal) return sendCancelSignal(temporal, workflowId, read, record, signal);
  const cause = cancelCause(reason, progress);
  try {
    await temporal.call((client) =>
      traceCall('CancelWorkflow', 'RequestCancelWorkflowExecution', workflowId, () =>
        client.workflowService.requestCancelWorkflowExecution({
          namespace: temporal.namespace,
          workflowExecution: { workflowId },
          identity: principal,
          requestId: randomUUID(),
          ...(cause ? { reason: cause } : {}),
        }),
      ),
    );
  } catch (error) {
    if (!isTerminal((await read()).status)) throw error;
    return false;
  }
  // Temporal accepts a request for a run that has just closed, and does nothing.
  const after = await read();
  return !isTerminal(after.status) || after.status === 'canceled';
}

/** Sends the signal only once: an external workflow may not expect a second one. */
async function sendCancelSignal(
  temporal: TemporalClient,
  workflowId: string,
  read: () => Promise<OperationRecord>,
  { cancelRequestedAt }: OperationRecord,
  { name, args }: { name: string; args: unknown[] },
): Promise<boolean> {
  if (cancelRequestedAt !== undefined) return true;
  try {
    await temporal.callPlain((client) => client.workflow.getHandle(workflowId).signal(name, ...args));
    return true;
  } catch (error) {
    if (!isTerminal((await read()).status)) throw error;
    return false;
  }
}

export function isCancelling({ status, cancelRequestedAt }: OperationRecord): boolean {
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

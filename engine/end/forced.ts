/** Forced cancels: terminate a run at once, without its cleanups. The reason in the history marks it as canceled, and names who forced it. */
import { count, OTHER } from '../../platform/observe/metrics/index.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { TemporalClient } from '../temporal/client.js';

/** Begins the termination reason of such a run. */
const REASON_PREFIX = 'longhaul.canceled: ';

/** Message in a termination reason; undefined for another reason. */
export function forcedMessageIn(reason: string | null | undefined): string | undefined {
  return reason?.startsWith(REASON_PREFIX) ? reason.slice(REASON_PREFIX.length) : undefined;
}

/**
 * Terminates an open operation; does nothing to a closed one.
 *
 * @returns whether it was open
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function forceCancel(
  temporal: TemporalClient,
  workflowId: string,
  read: () => Promise<OperationRecord>,
  { by, reason }: { by: string; reason: string | undefined },
): Promise<boolean> {
  const { status, tool } = await read();
  if (isTerminal(status)) return false;
  const message = `forced by ${by}, its cleanups did not run${reason ? `: ${reason}` : ''}`;
  try {
    await temporal.call((client) => client.workflow.getHandle(workflowId).terminate(REASON_PREFIX + message));
  } catch (error) {
    if (!isTerminal((await read()).status)) throw error;
    return false;
  }
  count('longhaul_operations_closed_total', { tool: tool || OTHER, status: 'canceled' });
  return true;
}

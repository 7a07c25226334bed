/** Operations whose cancel was requested and that have not ended yet: what runs may take a while to stop. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { isTerminal, type OperationRecord } from '../operations/record.js';

const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;

/** How long a verb that needs the end waits for it, in milliseconds: longer than a step that has to be killed takes. */
const END_LIMIT_MS = 30_000;

/** Has its cancel been requested, and is it still open? */
export function isCancelling({ status, cancelRequestedAt }: OperationRecord): boolean {
  return cancelRequestedAt !== undefined && !isTerminal(status);
}

/**
 * The status message while an operation is being cancelled.
 *
 * @param trouble what keeps the work from ending, if anything does
 */
export function cancellingMessage(
  { pendingActivities }: WorkflowExecutionDescription['raw'],
  stage: string | undefined,
  trouble: string | undefined,
): string {
  const running = (pendingActivities ?? []).filter(({ state }) => state !== PENDING_ACTIVITY_STATE_SCHEDULED);
  const [first] = running;
  const latest = stage ?? first?.activityType?.name ?? 'an activity';
  const others = running.length > 1 ? ` and ${running.length - 1} more` : '';
  const what = trouble ?? (first ? `still running: ${latest}${others}` : undefined);
  return what === undefined ? 'being cancelled' : `being cancelled; ${what}`;
}

/**
 * The record once the operation has ended, if it is being cancelled; else as it is.
 *
 * @param watch gives the record now and at each change
 * @param signal ends the wait early
 * @throws LonghaulError `unavailable` when it has not ended within 30 s
 */
export async function afterCancel(
  record: OperationRecord,
  watch: (signal: AbortSignal) => AsyncIterable<OperationRecord>,
  signal?: AbortSignal,
): Promise<OperationRecord> {
  if (!isCancelling(record)) return record;
  const limit = AbortSignal.timeout(END_LIMIT_MS);
  let last = record;
  for await (last of watch(signal ? AbortSignal.any([signal, limit]) : limit))
    if (!isCancelling(last)) return last;
  throw new LonghaulError(
    'unavailable',
    `the operation has not ended yet: ${last.statusMessage ?? 'being cancelled'}. Resume it once it has ended`,
  );
}

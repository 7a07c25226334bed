/** Who ended a terminated run: a server of Longhaul's, Temporal itself, or an operator. The failure that the SDK makes of it doesn't say. */
import { finalError, type OperationError } from '../../operations/errors.js';
import type { TemporalClient } from '../temporal/client.js';
import { eventsFromEnd } from './history.js';
import { forcedMessageIn } from '../end/forced.js';
import type { OperationStatus } from '../../operations/record.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import type { RunInfo } from '../list/current-runs.js';
import { overdueMessageIn } from './overdue.js';
import { refusedMessageIn } from './refused.js';

/** Identity in the closing event if Temporal's server ends a run by itself. */
const TEMPORAL = 'history-service';
/** Temporal's reasons, with its default limits. */
const LIMITS: readonly [reason: RegExp, limit: string][] = [
  [/^Workflow history size exceeds limit/, 'history over 50 MiB'],
  [/^Workflow history count exceeds limit/, 'history over 51,200 events'],
  [/^Workflow mutable state size exceeds limit/, 'pending work over 8 MiB'],
];

export interface TerminatedOutcome {
  error: OperationError;
  /** Whether it was ended because Temporal refuses one of its commands. */
  isRefused?: boolean;
  isForced?: boolean;
}

/** @throws LonghaulError `not_found`, `unavailable` */
export async function terminatedOutcome(
  temporal: TemporalClient,
  run: { workflowId: string; runId: string },
): Promise<TerminatedOutcome> {
  const { reason, identity } = await closingEvent(temporal, run);
  const overdue = overdueMessageIn(reason);
  if (overdue !== undefined) return { error: finalError('timed_out', overdue) };
  const forced = forcedMessageIn(reason);
  if (forced !== undefined) return { error: finalError('canceled', forced), isForced: true };
  const refused = refusedMessageIn(reason);
  if (refused !== undefined) return { error: finalError('failed', refused), isRefused: true };
  const [who, why] =
    identity === TEMPORAL ? ['Temporal ended it', limitIn(reason)] : ['terminated by an operator', reason];
  return { error: finalError('terminated', why ? `${who}: ${why}` : who) };
}

/** Status of a listed run that was terminated. Lists have no reasons. */
export async function terminatedStatus(
  temporal: TemporalClient,
  { execution }: RunInfo,
): Promise<OperationStatus> {
  const { workflowId, runId } = execution ?? {};
  if (!workflowId || !runId) return 'failed';
  try {
    const { reason } = await closingEvent(temporal, { workflowId, runId });
    if (forcedMessageIn(reason) !== undefined) return 'canceled';
    return overdueMessageIn(reason) === undefined ? 'failed' : 'timed_out';
  } catch (error) {
    // Lists lag: it has been deleted.
    if (!isGrpcError(error, GRPC.notFound)) throw error;
    return 'failed';
  }
}

async function closingEvent(temporal: TemporalClient, run: { workflowId: string; runId: string }) {
  for await (const event of eventsFromEnd(temporal, run, 1, 1)) {
    const { reason, identity } = event.workflowExecutionTerminatedEventAttributes ?? {};
    return { reason: reason ?? '', identity };
  }
  return { reason: '', identity: undefined };
}

function limitIn(reason: string): string {
  return LIMITS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
}

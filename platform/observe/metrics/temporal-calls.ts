/** Measures calls to Temporal on the connection, by gRPC method. */
import type { NativeConnection } from '@temporalio/worker';
import { GRPC, isDenied, isGrpcError, isThrottled, isUnreachable } from '../../temporal/grpc-errors.js';
import { areMetricsOn, count, observe } from './index.js';

/** Label for polls of a history's next event, which last until there is one. */
const LONG_POLL = 'GetWorkflowExecutionHistory (long poll)';

type Callback = (error: Error | null, response?: unknown) => void;
type Method = (request: object, callback?: Callback) => Promise<unknown> | undefined;

export function measureCalls<Connection extends Pick<NativeConnection, 'workflowService'>>(
  connection: Connection,
): Connection {
  if (!areMetricsOn()) return connection;
  const service = connection.workflowService as unknown as Record<string, unknown>;
  // protobufjs makes a separate function for each method of the service.
  for (const [name, method] of Object.entries(service))
    if (typeof method === 'function' && name !== 'rpcImpl')
      service[name] = measured(
        name.charAt(0).toUpperCase() + name.slice(1),
        (method as Method).bind(connection.workflowService),
      );
  return connection;
}

function measured(name: string, call: Method): Method {
  return (request, callback) => {
    const method = 'waitNewEvent' in request && request.waitNewEvent ? LONG_POLL : name;
    const startedMs = performance.now();
    const end = (error: unknown) => record(method, (performance.now() - startedMs) / 1_000, error);
    if (callback)
      return call(request, (error, response) => {
        end(error ?? undefined);
        callback(error, response);
      });
    const answer = call(request);
    answer?.then(() => end(undefined), end);
    return answer;
  };
}

function record(method: string, seconds: number, error: unknown): void {
  const isRefused = error !== undefined && isThrottled(error);
  // Start counting with the first call, so that the first refusal shows as an increase.
  count('longhaul_temporal_throttled_total', { method }, isRefused ? 1 : 0);
  observe('longhaul_temporal_request_duration_seconds', { method, outcome: outcomeOf(error) }, seconds);
}

function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok';
  if (isThrottled(error)) return 'throttled';
  if (isUnreachable(error)) return 'unavailable';
  if (isDenied(error)) return 'denied';
  // Answers about the workflow that callers handle: it doesn't exist, has ended, or has already begun.
  return isGrpcError(error, GRPC.notFound, GRPC.failedPrecondition, GRPC.invalidArgument, GRPC.alreadyExists)
    ? 'refused'
    : 'error';
}

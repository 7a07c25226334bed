/** Checks the namespace of a connection to Temporal. */
import { LonghaulError } from '../../operations/errors.js';
import type { TemporalConnection } from './connect.js';
import { GRPC, isDenied, isGrpcError, temporalMessage } from './grpc-errors.js';

const DEADLINE_MS = 5_000;

/** Error for a namespace that Temporal doesn't have, with the remedy. */
export function noNamespaceError(namespace: string, cause: unknown): LonghaulError {
  return new LonghaulError(
    'unavailable',
    `Temporal has no namespace "${namespace}"; create it ` +
      `(temporal operator namespace create --namespace ${namespace} --retention 72h), ` +
      `or name one that exists: in TEMPORAL_NAMESPACE, or as \`workflow.namespace\` in a tool's file`,
    { cause },
  );
}

/**
 * Checks that a worker can use the namespace. Ignores other errors, which may be temporary.
 *
 * @throws LonghaulError `unavailable` when the namespace doesn't exist or the credentials don't allow describing it
 */
export async function requireNamespace({
  current: connection,
  namespace,
}: TemporalConnection): Promise<void> {
  try {
    await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    if (isGrpcError(error, GRPC.notFound)) throw noNamespaceError(namespace, error);
    if (isDenied(error))
      throw new LonghaulError(
        'unavailable',
        `the credentials don't allow DescribeNamespace in the namespace "${namespace}", which workers need: ${temporalMessage(error)}`,
        { cause: error, retryable: false },
      );
  }
}

/** Builds queries for Temporal's visibility store. */
import type { Client } from '@temporalio/client';
import type proto from '@temporalio/proto';
import { CALL_LIMIT_MS } from './find-workflow.js';
import { isDenied } from './grpc-errors.js';

export const RUNNING_RUNS = `ExecutionStatus = 'Running'`;

/** Term for runs that can still change. Only servers with workflow pause accept the name `Paused` in a query. */
export function openRunsIn({
  namespaceInfo,
}: proto.temporal.api.workflowservice.v1.IDescribeNamespaceResponse): string {
  return namespaceInfo?.capabilities?.workflowPause
    ? `ExecutionStatus IN ('Running', 'Paused')`
    : RUNNING_RUNS;
}

/** {@link openRunsIn} the client's namespace; without paused ones if the credentials may not describe it. @throws errors of Temporal */
export async function openRuns(client: Client): Promise<string> {
  const { namespace } = client.options;
  try {
    const described = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
    return openRunsIn(described);
  } catch (error) {
    if (isDenied(error)) return RUNNING_RUNS;
    throw error;
  }
}

export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** @param values at least one @returns e.g. `IN ('a', 'b')` */
export function anyOf(values: Iterable<string>): string {
  return `IN (${[...new Set(values)].map(quote).join(', ')})`;
}

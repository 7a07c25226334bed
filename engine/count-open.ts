/** Counts a principal's open operations with one call to visibility. */
import { SEARCH_ATTRIBUTES } from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';
import type { TemporalClient } from './temporal.js';

/** Counts open operations, seconds late at most; undefined without Longhaul's search attributes. @throws LonghaulError `unavailable` */
export async function countOpenOperations(
  temporal: TemporalClient,
  principal: string,
): Promise<number | undefined> {
  if (!(await temporal.facts()).searchAttributes) return undefined;
  const query = `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)} AND ExecutionStatus = 'Running'`;
  const { count } = await temporal.callVisibility('list', (client) =>
    client.workflowService.countWorkflowExecutions({ namespace: temporal.namespace, query }),
  );
  return Number(count);
}

/** A Temporal namespace of a test's own: lists of operations are by namespace. */
import { randomUUID } from 'node:crypto';
import { msToTs } from '@temporalio/common/lib/time.js';
import { addSearchAttributes, unusableSearchAttributes } from '../../platform/temporal/search-attributes.js';
import { eventually } from '../stack/cli-process.js';
import { connectAsOperator } from './run-temporal.js';

/**
 * Registers a namespace and gives its name.
 *
 * @param options.searchAttributes whether it has Longhaul's search attributes. Default: true
 */
export async function newNamespace(
  prefix: string,
  { searchAttributes = true }: { searchAttributes?: boolean } = {},
): Promise<string> {
  const namespace = `${prefix}-${randomUUID()}`;
  const connection = await connectAsOperator();
  try {
    const workflowExecutionRetentionPeriod = msToTs('72h');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    if (searchAttributes) {
      await eventually('the namespace has search attributes', async () => {
        // A new namespace is known to all of the server's services after some seconds only.
        await addSearchAttributes(connection.operatorService, namespace).catch(() => undefined);
        const unusable = await unusableSearchAttributes(connection.workflowService, namespace).catch(
          () => undefined,
        );
        return unusable?.length === 0;
      });
    }
    return namespace;
  } finally {
    await connection.close();
  }
}

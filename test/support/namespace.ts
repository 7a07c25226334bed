/** A Temporal namespace of a test's own: lists of operations are by namespace. */
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

/** Registers a namespace and gives its name. */
export async function newNamespace(prefix: string): Promise<string> {
  const namespace = `${prefix}-${randomUUID()}`;
  const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
  try {
    const workflowExecutionRetentionPeriod = msToTs('72h');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    return namespace;
  } finally {
    await connection.close();
  }
}

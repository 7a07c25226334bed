/**
 * Calls a Nexus operation and waits for its end. The runtime gives it the deadline, the cancel, which is passed on to the operation and
 * awaited, and the record. One operation a workflow: Temporal allows 30 at a time in one.
 */
import { createNexusServiceClient } from '@temporalio/workflow';
import { structuredResult } from '../operations/external-workflow.js';
import type { NexusCall } from '../operations/nexus-call.js';
import { stage } from './runtime/index.js';

export async function longhaul_nexus({
  endpoint,
  service,
  operation,
  input,
}: NexusCall): Promise<Record<string, unknown>> {
  stage(operation);
  const definition = { name: service, operations: { [operation]: { name: operation } } };
  const client = createNexusServiceClient({ endpoint, service: definition as never });
  const result: unknown = await client.executeOperation(operation as never, input as never, {
    summary: operation,
  });
  return structuredResult(result);
}

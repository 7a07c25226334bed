/**
 * Calls a Nexus operation and waits for its end. The runtime gives it the deadline, the cancel, which is passed on to the operation and
 * awaited, and the record. One operation a workflow: Temporal allows 30 at a time in one.
 */
import { createNexusServiceClient, setWorkflowOptions } from '@temporalio/workflow';
import { structuredResult } from '../operations/external-workflow.js';
import { LIST_TOOLS_OPERATION, type NexusCall, type NexusService } from '../operations/nexus-call.js';
import { stage } from './runtime/index.js';

export async function longhaul_nexus({ input, ...called }: NexusCall): Promise<Record<string, unknown>> {
  stage(called.operation);
  return structuredResult(await callOperation(called, input));
}

/** Asks a service for its tools. Not an operation: nobody called it. */
export async function longhaul_nexus_tools(service: NexusService): Promise<unknown> {
  return callOperation({ ...service, operation: LIST_TOOLS_OPERATION }, null);
}
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, longhaul_nexus_tools);

function callOperation(
  { endpoint, service, operation }: Omit<NexusCall, 'input'>,
  input: unknown,
): Promise<unknown> {
  const definition = { name: service, operations: { [operation]: { name: operation } } };
  const client = createNexusServiceClient({ endpoint, service: definition as never });
  return client.executeOperation(operation as never, input as never, { summary: operation });
}

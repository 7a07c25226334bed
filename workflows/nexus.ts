/**
 * Calls a Nexus operation and waits for its end. The runtime adds the deadline, the record, and a cancel that is passed on and
 * awaited. One operation per workflow, because Temporal allows 30 at a time in one.
 */
import { createNexusServiceClient, setWorkflowOptions } from '@temporalio/workflow';
import { structuredResult } from '../operations/wire/external-workflow.js';
import { LIST_TOOLS_OPERATION, type NexusCall, type NexusService } from '../operations/wire/nexus-call.js';
import { stage } from './runtime/index.js';

export async function longhaul_nexus({ input, ...called }: NexusCall): Promise<Record<string, unknown>> {
  stage(called.operation);
  return structuredResult(await callOperation(called, input));
}

/** Asks a service for its tools. Not an operation, because no caller started it. */
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

/** Tools over Nexus operations: one of Longhaul's workflows calls the operation, so it gets what Longhaul's own tools have. */

export const NEXUS_WORKFLOW = 'longhaul_nexus';

/** Type of the workflow that asks a service for its tools. */
export const NEXUS_TOOLS_WORKFLOW = 'longhaul_nexus_tools';

/** Operation that lists a service's tools. Source: nexus/mcp of temporal-community/temporal-agent-harness. */
export const LIST_TOOLS_OPERATION = 'list_tools';

export interface NexusService {
  /** Endpoint in Temporal, which names a namespace and task queue. */
  endpoint: string;
  service: string;
}

/** Argument of {@link NEXUS_WORKFLOW}. */
export interface NexusCall extends NexusService {
  operation: string;
  input: unknown;
}

/** Tools over Nexus operations: a small workflow of Longhaul calls the operation, and gives it all that its own tools have. */

/** Type of that workflow. */
export const NEXUS_WORKFLOW = 'longhaul_nexus';

/** Type of the workflow that asks a service for its tools. */
export const NEXUS_TOOLS_WORKFLOW = 'longhaul_nexus_tools';

/** Operation by which a service lists its tools. Source: nexus/mcp of temporal-community/temporal-agent-harness. */
export const LIST_TOOLS_OPERATION = 'list_tools';

/** A service behind an endpoint. */
export interface NexusService {
  /** Endpoint in Temporal, which leads to a namespace and task queue. */
  endpoint: string;
  service: string;
}

/** Argument of {@link NEXUS_WORKFLOW}. */
export interface NexusCall extends NexusService {
  operation: string;
  input: unknown;
}

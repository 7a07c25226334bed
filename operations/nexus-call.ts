/** Tools over Nexus operations: a small workflow of Longhaul calls the operation, and gives it all that its own tools have. */

/** Type of that workflow. */
export const NEXUS_WORKFLOW = 'longhaul_nexus';

/** Its argument. */
export interface NexusCall {
  /** Endpoint in Temporal, which leads to a namespace and task queue. */
  endpoint: string;
  service: string;
  operation: string;
  input: unknown;
}

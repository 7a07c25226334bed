/** The tools about operations, by name. */
import { operationLogs } from './operation_logs.js';
import { operationResume } from './operation_resume.js';
import type { OperationTool } from './operation-tool.js';

export type { OperationTool } from './operation-tool.js';

export const operationTools: ReadonlyMap<string, OperationTool> = new Map(
  [operationLogs, operationResume].map((tool) => [tool.name, tool]),
);

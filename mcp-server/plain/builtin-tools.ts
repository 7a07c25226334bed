/** Longhaul's own tools, by name: the operation_* tools, and those of mounted features. */
import { z } from 'zod';
import type { Guard } from '../guard.js';
import type { BuiltinTool } from './builtin-tool.js';
import { operationAnswer } from './operation-tools/operation_answer.js';
import { operationCancel } from './operation-tools/operation_cancel.js';
import { defineOperationTool, token } from './operation-tools/operation-tool.js';
import { operationGet } from './operation-tools/operation_get.js';
import { operationList } from './operation-tools/operation_list.js';
import { operationResume } from './operation-tools/operation_resume.js';

const operationDelete = defineOperationTool({
  name: 'delete',
  title: 'Delete an operation',
  description:
    'Removes an operation that has ended, with its result, files and logs, for good; its idempotency_key is free again. Refused while it is open (operation_cancel first), or while an operation that resumes it exists (delete that first).',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ token }),
  output: z.strictObject({ token, deleted: z.literal(true) }),
  async run(engine, _context, { token: deleted }) {
    await engine.delete(deleted);
    return {
      output: { token: deleted, deleted: true as const },
      text: `Deleted ${deleted}, with its result, files and logs.`,
    };
  },
});

const operationTools: ReadonlyMap<string, BuiltinTool> = new Map(
  [operationGet, operationAnswer, operationCancel, operationResume, operationList, operationDelete].map(
    (tool) => [tool.name, tool],
  ),
);

export function builtinTools({
  mountedTools,
}: Pick<Guard, 'mountedTools'>): ReadonlyMap<string, BuiltinTool> {
  if (mountedTools.length === 0) return operationTools;
  return new Map([...operationTools, ...(mountedTools as [string, BuiltinTool][])]);
}

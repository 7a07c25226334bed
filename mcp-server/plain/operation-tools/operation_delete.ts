import { z } from 'zod';
import { token, defineOperationTool } from './operation-tool.js';

export const operationDelete = defineOperationTool({
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

import { z } from 'zod';
import { token } from './fields.js';
import { defineOperationTool } from './operation-tool.js';

export const operationDelete = defineOperationTool({
  name: 'delete',
  title: 'Delete an operation',
  description: [
    'Removes an operation that has ended, with its result, partial result, files and logs, for good. Afterwards its token is unknown, and its idempotency_key is free for new work.',
    'An open operation is refused: operation_cancel first. So is one that was resumed, while the operation that resumed it exists: delete that one first.',
    'Lists lag by seconds and may still show it. Call again if it fails half-way.',
  ].join('\n'),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ token }),
  output: z.strictObject({ token, deleted: z.literal(true) }),
  async run(engine, { principal }, { token: deleted }) {
    await engine.delete(principal, deleted);
    return {
      output: { token: deleted, deleted: true as const },
      text: `Deleted ${deleted}, with its result, files and logs.`,
    };
  },
});

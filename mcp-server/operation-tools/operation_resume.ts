import { z } from 'zod';
import { token } from './fields.js';
import { defineOperationTool } from './operation-tool.js';

export const operationResume = defineOperationTool({
  name: 'resume',
  title: 'Resume an operation',
  description: [
    'Goes on with a pipeline that failed, was canceled or timed out, as a new operation with a token of its own.',
    'Finished steps are not run again, unless from says so. Asking twice gives the same operation.',
  ].join('\n'),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    token,
    from: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe('Step to go on from: job/2, job/Step name, or a job. Default: after the last finished step.'),
  }),
  output: z.object({
    token: z.string().describe('Token of the new operation.'),
    tool: z.string(),
    status: z.string(),
    attempt: z.number().int().describe('Counts the operations from the first one on.'),
    resumed_from: z.string(),
  }),
  async run(engine, principal, { token, from }) {
    const record = await engine.resume(principal, token, from === undefined ? {} : { from });
    const { tool, status, attempt, resumedFrom = token } = record;
    const text = [
      `${tool} goes on as the operation ${record.token} (attempt ${attempt}, resumed from ${resumedFrom}); it is ${status}.`,
      `It is a task like any other: read it with tasks/get under that ID. What its steps print: operation_logs ${JSON.stringify({ token: record.token })}`,
    ].join('\n');
    return { text, output: { token: record.token, tool, status, attempt, resumed_from: resumedFrom } };
  },
});

import { z } from 'zod';
import { answerAfter, startedSchema } from '../envelope/index.js';
import { reference, token, defineOperationTool } from './operation-tool.js';

export const operationResume = defineOperationTool({
  name: 'resume',
  title: 'Resume an operation',
  description:
    'Continues a pipeline that failed, was cancelled or timed out, as a new operation with its own token; repeating the call returns the same one. Finished steps are not run again, unless from includes them.',
  // The effects are the pipeline steps'.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    token,
    from: reference
      .optional()
      .describe('job/2, job/Step name, or a job. Default: after the last finished step.'),
    changes: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Changed arguments, for the steps that will run.'),
  }),
  output: startedSchema,
  async run(engine, { signal, shutdown }, { token, from, changes }) {
    const record = await engine.resume(token, {
      from,
      changes,
      signal: AbortSignal.any([signal, shutdown.signal]),
    });
    const done = `Resumed as the new operation ${record.token} (attempt ${record.attempt}); ${token} is unchanged.`;
    return answerAfter(engine, record, done, { token: record.token });
  },
});

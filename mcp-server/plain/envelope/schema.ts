/** The envelope's published schema. */
import { z } from 'zod';
import { toJsonSchema, type JsonSchema } from '../../../operations/schema.js';
import { rebaseReferences } from '../../../operations/schema-references.js';
import { PLAIN_FINAL_STATUSES, PLAIN_OPEN_STATUSES } from '../../../operations/status-names.js';
import type { Tool } from '../../../operations/tool.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../../lifecycle/shutdown.js';
import { nextActionSchema } from './next-action.js';

const time = z.string().describe('ISO 8601, UTC.');

/** A resource of the operation, for resources/read. */
export const linkSchema = z.object({
  name: z.string(),
  uri: z.string(),
  mime_type: z.string().optional(),
  bytes: z.number().int().optional(),
});

export const envelopeSchema = z.object({
  token: z.string().describe('Identifies the operation in later calls.'),
  tool: z.string().describe('Tool that was called.'),
  status: z.enum([...PLAIN_OPEN_STATUSES, ...PLAIN_FINAL_STATUSES]),
  status_message: z.string().optional().describe('Current state, in one line.'),
  cancel_requested: z
    .literal(true)
    .optional()
    .describe('Being cancelled: the status becomes cancelled once running work has ended.'),
  stage: z.string().optional(),
  progress: z
    .object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() })
    .optional(),
  children: z
    .array(z.object({ name: z.string(), status: z.string() }))
    .optional()
    .describe('Parts that run independently: the jobs of a pipeline, one for each item of a list.'),
  created_at: time,
  closed_at: time.optional(),
  estimate_seconds: z.number().optional().describe('How long the work usually takes.'),
  attempt: z.number().int().optional().describe('2 or more if it resumes an earlier operation.'),
  resumed_from: z.string().optional().describe('Token of that operation.'),
  result: z.unknown().optional().describe("The tool's result, once completed."),
  links: z
    .array(linkSchema)
    .optional()
    .describe('Resources that the result does not name: a result too large to show, files of jobs.'),
  error: z
    .object({
      kind: z.string(),
      message: z.string(),
      retryable: z.boolean().describe('Whether the same call may succeed later.'),
    })
    .optional(),
  partial: z.unknown().optional().describe('Partial result; kept if the rest fails.'),
  input_required: z
    .record(
      z.string(),
      z.object({
        message: z.string(),
        schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the content of the answer.'),
        expires_at: time.optional(),
      }),
    )
    .optional()
    .describe('Open questions by key.'),
  error_kind: z
    .enum(['wait_timeout', SERVER_STOPPING])
    .optional()
    .describe(
      `Why the wait ended before the work, which continues: not a failure. wait_timeout: the wait reached its time limit. ${SERVER_STOPPING}: this server is stopping; follow next_action, with the same token, after ${RETRY_AFTER_SECONDS} s or later.`,
    ),
  next_action: nextActionSchema.optional().describe('Missing once the operation has ended.'),
});

export type Envelope = z.output<typeof envelopeSchema>;

/** Published schema of the envelope, with the tool's own output schema under `result`. */
export function envelopeSchemaOf(tool?: Tool): JsonSchema {
  const schema = toJsonSchema(envelopeSchema, 'output');
  if (!tool?.outputSchema) return schema;
  const properties = schema['properties'] as Record<string, JsonSchema>;
  const result = rebaseReferences('#/properties/result', tool.outputSchema) as JsonSchema;
  return { ...schema, properties: { ...properties, result } };
}

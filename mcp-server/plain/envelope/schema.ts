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
  token: z.string().describe('What the operation is known by in every later call.'),
  tool: z.string().describe('Tool whose work it is.'),
  status: z.enum([...PLAIN_OPEN_STATUSES, ...PLAIN_FINAL_STATUSES]),
  status_message: z.string().optional().describe('Where it stands, in a line.'),
  cancel_requested: z
    .literal(true)
    .optional()
    .describe('It is being cancelled: the status is cancelled once what still runs has ended.'),
  stage: z.string().optional(),
  progress: z
    .object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() })
    .optional(),
  children: z
    .array(z.object({ name: z.string(), status: z.string() }))
    .optional()
    .describe('Parts that run for themselves: the jobs of a pipeline, one for each item of a list.'),
  created_at: time,
  closed_at: time.optional(),
  estimate_seconds: z.number().optional().describe('How long the work usually takes.'),
  attempt: z.number().int().optional().describe('From 2 on when it continues where an earlier one stopped.'),
  resumed_from: z.string().optional().describe('Token of that earlier one.'),
  result: z.unknown().optional().describe('What the tool gives, once the status is completed.'),
  links: z
    .array(linkSchema)
    .optional()
    .describe('Resources that the result does not name: a result too large to show, files of jobs.'),
  error: z
    .object({
      kind: z.string(),
      message: z.string(),
      retryable: z.boolean().describe('Would the same call have a chance later?'),
    })
    .optional(),
  partial: z.unknown().optional().describe('What is finished so far; it stays when the rest fails.'),
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
      `Why the wait has ended before the work, which continues: no failure. wait_timeout: the call has waited for as long as it may. ${SERVER_STOPPING}: this server is stopping; do what next_action says, with the same token, in ${RETRY_AFTER_SECONDS} s at the earliest.`,
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

/** The envelope's published schemas. */
import type { ResourceLink } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { toJsonSchema, type JsonSchema } from '../../../operations/tool/schema.js';
import { PLAIN_FINAL_STATUSES, PLAIN_OPEN_STATUSES } from '../../../operations/status-names.js';
import { SERVER_STOPPING } from '../../shutdown/index.js';
import { listedSchema } from '../../listed-tools/schema.js';
import { nextActionSchema } from './next-action.js';

const time = z.string();

/** A resource of the operation, for resources/read. */
export const linkSchema = z.object({
  name: z.string(),
  uri: z.string(),
  mime_type: z.string().optional(),
  bytes: z.number().int().optional(),
});

export function linkOutput({ name, uri, mimeType, size }: ResourceLink): z.output<typeof linkSchema> {
  return { name, uri, mime_type: mimeType, bytes: size };
}

const wholeSchema = z.object({
  token: z.string(),
  tool: z.string(),
  status: z.enum([...PLAIN_OPEN_STATUSES, ...PLAIN_FINAL_STATUSES]),
  status_message: z.string().optional(),
  cancel_requested: z.literal(true).optional(),
  stage: z.string().optional(),
  progress: z
    .object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() })
    .optional(),
  children: z
    .array(z.object({ name: z.string(), status: z.string() }))
    .optional()
    .describe('Parts: jobs of a pipeline, child workflows.'),
  created_at: time,
  closed_at: time.optional(),
  estimate_seconds: z.number().optional(),
  attempt: z.number().int().optional().describe('From 2: resumes resumed_from.'),
  resumed_from: z.string().optional(),
  trace_id: z.string().optional(),
  result: z.unknown().optional(),
  links: z
    .array(linkSchema)
    .optional()
    .describe('Resources that the result does not name: {name, uri, mime_type, bytes}.'),
  error: z
    .object({ kind: z.string(), message: z.string(), retryable: z.boolean() })
    .optional()
    .describe('{kind, message, retryable}'),
  temporal_url: z.string().optional().describe("Its run in Temporal's UI, for people."),
  partial: z.unknown().optional().describe('Partial result; kept if the rest fails.'),
  input_required: z
    .record(
      z.string(),
      z.object({
        message: z.string(),
        schema: z.record(z.string(), z.unknown()),
        expires_at: time.optional(),
        approvers: z.array(z.string()).optional(),
        four_eyes: z.literal(true).optional(),
      }),
    )
    .optional()
    .describe('Several open questions: {message, schema, expires_at} by key.'),
  error_kind: z
    .enum(['wait_timeout', SERVER_STOPPING])
    .optional()
    .describe('Why the wait ended before the work, which continues.'),
  next_action: nextActionSchema
    .optional()
    .describe(
      '{tool, args, question, check_after_seconds}; without tool: repeat this call. Missing once it has ended.',
    ),
});

export type Envelope = z.output<typeof wholeSchema>;

/** operation_get's published schema. Answers have only the fields that say something. */
export const envelopeSchema = wholeSchema.partial().required({ status: true });

export type Answered = z.output<typeof envelopeSchema>;

/** Published schema of all other tools that answer with an operation. {@link envelopeSchema} has their fields. */
export const startedSchema = z.looseObject({ token: z.string(), status: z.string() });

export const compactSchema: JsonSchema = listedSchema(toJsonSchema(startedSchema, 'output'));

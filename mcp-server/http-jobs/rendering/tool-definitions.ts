/** Tools as definitions for OpenAI's Chat Completions and Anthropic's Messages, each with its HTTP request for loops that run calls. */
import { z } from '@hono/zod-openapi';
import { documentationFor } from '../../../operations/documentation/describe.js';
import { toJsonSchema, type JsonSchema } from '../../../operations/tool/schema.js';
import type { Tool } from '../../../operations/tool/index.js';
import { REFUSED_AT_TOP } from '../../../operations/documentation/gaps.js';
import type { CallerTools } from '../../auth/caller-tools.js';
import { listedSchema } from '../../listed-tools/schema.js';
import { cancelBody } from '../cancel.js';
import { answerBody } from '../input.js';
import { LONGEST_WAIT_SECONDS } from './schemas.js';

export const DEFINITION_FORMATS = ['openai', 'anthropic'] as const;
export type DefinitionFormat = (typeof DEFINITION_FORMATS)[number];

/** Longest function description that OpenAI accepts, in characters. */
const OPENAI_DESCRIPTION_CHARACTERS = 1024;

/** The request that executes a call. Arguments not named in `path` (in braces) or `query` are the JSON body of a POST. */
export interface Call {
  method: 'GET' | 'POST';
  path: string;
  query: string[];
}

interface Definition {
  name: string;
  /** Most important line first. */
  description: string[];
  parameters: JsonSchema;
  call: Call;
}

const jobId = z.string().describe('job_id of the job, as the call that started it gave it.');
const seconds = z.int().min(0).max(LONGEST_WAIT_SECONDS).optional().describe('Seconds.');

function parametersOf(fields: z.ZodObject['shape']): JsonSchema {
  return listedSchema(toJsonSchema(z.strictObject({ job_id: jobId, ...fields })));
}

/** Tools that poll, answer and cancel jobs. A project's tools can't use their names. */
const FOLLOW_UP_TOOLS: Definition[] = [
  {
    name: 'operation_get',
    description: [
      "Returns a job's state: status, progress, input_required with its questions, and in the end its result or error.",
      `Call it again until the status is succeeded, failed, canceled or timed_out; wait delays the answer until the job has ended or asks a question, for ${LONGEST_WAIT_SECONDS} s at most.`,
    ],
    parameters: parametersOf({ wait: seconds }),
    call: { method: 'GET', path: '/v1/jobs/{job_id}', query: ['wait'] },
  },
  {
    name: 'operation_answer',
    description: [
      'Answers a question of a job whose input_required has requests. Ask the person first; do not make answers up.',
    ],
    parameters: parametersOf(answerBody.shape),
    call: { method: 'POST', path: '/v1/jobs/{job_id}/input', query: [] },
  },
  {
    name: 'operation_cancel',
    description: ['Cancels a job for good. Its partial result, logs and files are kept.'],
    parameters: parametersOf(cancelBody.shape),
    call: { method: 'POST', path: '/v1/jobs/{job_id}:cancel', query: [] },
  },
];

/** Definitions of the tools and the follow-up tools in a format, and each one's call. */
export function toolDefinitions(
  tools: Pick<CallerTools, 'map'>,
  format: DefinitionFormat,
): { format: DefinitionFormat; tools: object[]; calls: Record<string, Call> } {
  const definitions = [...tools.map(definitionOf), ...FOLLOW_UP_TOOLS];
  return {
    format,
    tools: definitions.map(format === 'openai' ? asOpenAi : asAnthropic),
    calls: Object.fromEntries(definitions.map(({ name, call }) => [name, call])),
  };
}

function definitionOf(tool: Tool): Definition {
  const { name, wait, keepAliveSeconds, inputSchema } = tool;
  const following = wait
    ? 'Answers with the job: ended with its result, or, if it takes longer, still running; then poll operation_get with its job_id.'
    : 'Answers at once with a job_id and status queued; the work continues in the background. Poll operation_get until the status is final.';
  const { operation, ...items } = documentationFor(tool, {
    states: 'Statuses: queued, running; final: succeeded, failed, canceled, timed_out.',
    following: `Results are kept ${keepAliveSeconds} s. input_required in a job: operation_answer.`,
    cancel: 'operation_cancel ends the work; partial results are kept. The end of a wait cancels nothing.',
    idempotency:
      'The program that executes the call sends an Idempotency-Key, so a repeated request starts once.',
    rates: 'Beyond the rate limits a call answers 429 with Retry-After.',
    example: (result) =>
      `{"job_id":"J","status":"queued"}; operation_get {"job_id":"J"} -> {"status":"running"}, later {"status":"succeeded","result":${result}}.`,
  });
  return {
    name,
    description: [operation, following, ...Object.values(items).flatMap((item) => item.split('\n'))],
    parameters: acceptable(listedSchema(inputSchema)),
    call: { method: 'POST', path: `/v1/tools/${name}/jobs`, query: [] },
  };
}

/** Converts a schema for both APIs: an object without alternatives at the top level. The kickoff checks the whole schema. */
function acceptable(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([keyword]) => keyword !== '$schema' && !REFUSED_AT_TOP.has(keyword),
  );
  return { ...Object.fromEntries(kept), type: 'object', properties: schema['properties'] ?? {} };
}

function asOpenAi({ name, description, parameters }: Definition): object {
  return { type: 'function', function: { name, description: shortened(description), parameters } };
}

function asAnthropic({ name, description, parameters }: Definition): object {
  return { name, description: description.join('\n'), input_schema: parameters };
}

/** The first two lines, the first truncated if necessary, then each further line that fits. */
function shortened([first = '', second, ...others]: string[]): string {
  const room = OPENAI_DESCRIPTION_CHARACTERS - (second === undefined ? 0 : second.length + 1);
  const lines = [first.length > room ? `${first.slice(0, room - 1)}…` : first, ...(second ? [second] : [])];
  for (const line of others)
    if ([...lines, line].join('\n').length <= OPENAI_DESCRIPTION_CHARACTERS) lines.push(line);
  return lines.join('\n');
}

/** Summary of a run in Temporal's UI: what it works on, in one line. Anyone who may list workflows sees it, so it has no secrets. */
import { isObject } from '../../operations/json/is-object.js';
import type { Tool } from '../../operations/tool/index.js';
import { schemasIn } from '../../operations/tool/schema-references.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { CUT_MARK, cutText } from '../../operations/wire/state.js';
import type { PipelineRun } from '../../pipelines/run.js';

/** Maximum JSON of a summary. Temporal takes 400 bytes. */
const SUMMARY_BYTES = 200;
const VALUE_CHARACTERS = 40;

interface Call {
  title: string;
  schema: JsonSchema;
  args: Record<string, unknown>;
  /** Names of a pipeline's secrets. An input of such a name is likely one, too. */
  secrets?: string[];
}

/** The summary of a tool's run: its title and main arguments. */
export function summaryOf(tool: Tool, args: Record<string, unknown>): string {
  const { title, inputSchema, isPipeline } = tool;
  const secrets = isPipeline ? (tool.toWorkflowArguments(args)[0] as PipelineRun).pipeline.secrets : [];
  return summarizeCall({ title, schema: inputSchema, args, secrets });
}

/** `Title: path=flights.csv, limit=3`, required arguments first, scalars only. */
export function summarizeCall({ title, schema, args, secrets = [] }: Call): string {
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  const hidden = new Set(secrets.map((name) => name.toUpperCase()));
  const shown = Object.keys(args)
    .filter((name) => isScalar(args[name]) && !hidden.has(name.toUpperCase()) && !isSecret(schema, name))
    .sort((one, other) => Number(required.includes(other)) - Number(required.includes(one)));
  const texts = shown.map((name) => `${name}=${shortened(String(args[name]))}`);
  return cutText(texts.length === 0 ? title : `${title}: ${texts.join(', ')}`, SUMMARY_BYTES);
}

function isScalar(value: unknown): boolean {
  return value !== '' && ['string', 'number', 'boolean'].includes(typeof value);
}

function shortened(text: string): string {
  // A text may have a megabyte. Temporal's UI renders Markdown, so callers must not place links or images.
  const line = text.slice(0, 4 * VALUE_CHARACTERS).replaceAll(/[\s\p{Cc}]+/gu, ' ');
  const characters = [...line.replaceAll(/[[<`]/g, '(').replaceAll(/[\]>]/g, ')')];
  if (characters.length <= VALUE_CHARACTERS && text.length <= 4 * VALUE_CHARACTERS)
    return characters.join('');
  return `${characters.slice(0, VALUE_CHARACTERS - 1).join('')}${CUT_MARK}`;
}

/** Whether the schema marks an argument as secret, in any part, or doesn't declare it. */
function isSecret(schema: JsonSchema, name: string): boolean {
  const declared: unknown[] = [];
  for (const { properties } of schemasIn(schema, schema, { isInPlace: true }))
    if (isObject(properties) && Object.hasOwn(properties, name)) declared.push(properties[name]);
  return declared.length === 0 || declared.some((one) => holdsSecret(schema, one));
}

function holdsSecret(schema: JsonSchema, argument: unknown): boolean {
  for (const part of schemasIn(schema, argument, { isInPlace: false }))
    if (part['writeOnly'] === true || part['format'] === 'password') return true;
  return false;
}

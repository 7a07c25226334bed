/** The tables of keys in docs/pipelines-language.md and docs/bring-your-own.md. */
import { z } from 'zod';
import { LEVELS as TOOL_LEVELS } from '../../external-workflows/schema.js';
import { LEVELS, pipelineFile, type Level } from '../../pipelines/schema.js';

interface KeySchema {
  type?: string | string[];
  enum?: unknown[];
  items?: KeySchema;
  anyOf?: KeySchema[];
  allOf?: KeySchema[];
  $ref?: string;
  default?: unknown;
  description?: string;
}

const TITLES: [Level, string][] = [
  ['pipeline', 'The pipeline'],
  ['queue', 'Its `queue`'],
  ['job', 'A job: `jobs.NAME`'],
  ['step', 'A step: `jobs.NAME.steps[]`'],
  ['retry', 'Its `retry`'],
  ['approval', 'Its `approval`'],
];

export function keyTables(): string {
  const schemaOf = (level: Level) => (level === 'pipeline' ? pipelineFile : z.strictObject(LEVELS[level]));
  return TITLES.map(([level, title]) => `### ${title}\n\n${keyTable(schemaOf(level))}`).join('\n\n');
}

export function toolKeyTables(): string {
  return Object.entries(TOOL_LEVELS)
    .map(([path, schema]) => `### ${path === '' ? 'The file' : `\`${path}\``}\n\n${keyTable(schema)}`)
    .join('\n\n');
}

function keyTable(schema: z.ZodType): string {
  const { properties, required = [] } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) as {
    properties: Record<string, KeySchema>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([key, schema]) => [
    `\`${key}\``,
    formOf(schema),
    required.includes(key) ? 'required' : defaultOf(schema.default),
    schema.description ?? '',
  ]);
  return table([['key', 'type', 'default', 'description'], ...rows]);
}

function formOf(schema: KeySchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(formOf))].join(' or ');
  if (schema.allOf || schema.$ref) return 'schema';
  if (schema.type === 'array') return schema.items?.type === 'object' ? 'list of maps' : 'list of texts';
  return FORMS[String(schema.type)] ?? String(schema.type);
}

const FORMS: Partial<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  boolean: '`true`, `false`',
  object: 'map',
};

function defaultOf(value: unknown): string {
  return value === undefined || typeof value === 'object'
    ? ''
    : `\`${JSON.stringify(value)}\``.replaceAll('"', '');
}

function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

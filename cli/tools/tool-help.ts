/** `longhaul call TOOL --help`: a tool's description and flags, from the running server. */
import { EXIT_CODES_HELP } from '../client/exit-codes.js';
import { choicesOf, describeExpected, typesOf } from './schema-values.js';
import { textTable } from '../terminal/table.js';
import { columnsOf } from '../terminal/text-width.js';
import { toolFlags, type ToolFlag } from './tool-flags.js';
import type { ToolDeclaration } from '../client/wire.js';

/** Limits in a schema, in display order. */
const LIMITS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'pattern', 'format'],
];

/** Maximum width, in columns. */
const WIDTH = 100;

export function toolHelp(tool: ToolDeclaration): string {
  const flags = toolFlags(tool.inputSchema);
  const rows = flags.map((flag) => [`  ${usageOf(flag)}`, describe(flag)]);
  const width = Math.min(WIDTH, columnsOf('stdout'));
  return [
    `Usage: longhaul call ${tool.name} [flags]`,
    '',
    tool.description ?? tool.title ?? tool.name,
    '',
    ...(rows.length ? ['Arguments:', textTable(rows, width)] : ['It takes no arguments.']),
    '',
    "Longhaul's own flags, before or after the tool's name:",
    textTable([
      ['  --args <file>', 'arguments as a JSON object (- for standard input); flags win over it'],
      ['  --detach', 'print the token at once, without waiting'],
      ['  --json', 'print JSON, for programs'],
      ['  --url <url>', 'MCP endpoint; also --home, --host and --port, as everywhere'],
    ]),
    EXIT_CODES_HELP,
  ].join('\n');
}

function usageOf({ flag, schema }: ToolFlag): string {
  const isSwitch = !choicesOf(schema) && typesOf(schema).join() === 'boolean';
  return isSwitch ? `${flag}, --no-${flag.slice(2)}` : `${flag} <${describeExpected(schema)}>`;
}

function describe({ schema, isRequired }: ToolFlag): string {
  const limits = LIMITS.filter((limit) => isWorthShowing(limit, schema[limit])).map(
    (limit) => `${limit} ${String(schema[limit])}`,
  );
  const facts = [
    ...(isRequired ? ['required'] : []),
    ...limits,
    ...(schema['default'] === undefined ? [] : [`default ${JSON.stringify(schema['default'])}`]),
  ];
  const { description: text } = schema;
  const description = typeof text === 'string' ? text.replace(/\s+/g, ' ') : undefined;
  return [description, facts.length ? `(${facts.join(', ')})` : undefined].filter(Boolean).join(' ');
}

/** Hides zod's default integer bounds. */
function isWorthShowing(limit: string, value: unknown): boolean {
  return (
    value !== undefined && !(limit.endsWith('imum') && Math.abs(Number(value)) >= Number.MAX_SAFE_INTEGER)
  );
}

/** Flags for a tool's arguments, from its schema. If Longhaul has a flag of that name, use `--arg-NAME`. */
import type { JsonSchema } from '../../operations/tool/schema.js';
import { usageFailure } from '../client/failures.js';
import {
  choicesOf,
  describeExpected,
  isRequired,
  propertiesOf,
  resolveSchema,
  typesOf,
  parseValue,
} from './schema-values.js';

/** Longhaul's own flags that may follow the tool's name, with whether they take a value. */
const BUILTIN_FLAGS: Record<string, boolean> = {
  args: true,
  detach: false,
  up: false,
  json: false,
  help: false,
  url: true,
  home: true,
  host: true,
  port: true,
};

/** The words after the tool's name: Longhaul's own flags, and the tool's words. */
export interface ToolWords {
  own: Record<string, string | true>;
  words: string[];
}

export function extractBuiltinFlags(tail: string[]): ToolWords {
  const own: ToolWords['own'] = {};
  const words: string[] = [];
  for (let at = 0; at < tail.length; at += 1) {
    const word = tail[at]!;
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word === '-h' ? '--help' : word) ?? [];
    if (!Object.hasOwn(BUILTIN_FLAGS, name)) words.push(word);
    else if (!BUILTIN_FLAGS[name]) own[name] = true;
    else {
      const given = value ?? tail[(at += 1)];
      if (given === undefined) throw usageFailure(`--${name}: expected a value; got nothing`);
      own[name] = given;
    }
  }
  return { own, words };
}

export interface ToolFlag {
  argument: string;
  /** As shown in help, such as `--max-rows`. */
  flag: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** The flags of a tool, required ones first. */
export function toolFlags(inputSchema: JsonSchema): ToolFlag[] {
  return propertiesOf(inputSchema)
    .map(([argument, schema]) => {
      const name = kebab(argument);
      const isTaken = Object.hasOwn(BUILTIN_FLAGS, name) || name.startsWith('arg-');
      const flag = isTaken ? `--arg-${name}` : `--${name}`;
      return { argument, flag, schema, isRequired: isRequired(inputSchema, argument) };
    })
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/**
 * Parses `--name value`, `--name=value`, `--flag` and `--no-flag` for booleans. Lists take JSON, or one item per flag.
 *
 * @throws CommandFailure that names the flag, what was expected and what came
 */
export function parseToolFlags(
  words: string[],
  tool: string,
  inputSchema: JsonSchema,
): Record<string, unknown> {
  const flags = toolFlags(inputSchema);
  const args: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined)
      throw usageFailure(
        `${tool}: expected flags such as ${flags[0]?.flag ?? '--args'}; got ${JSON.stringify(word)}`,
      );
    const found = findFlag(flags, name);
    const negated = found || !name.startsWith('no-') ? undefined : findFlag(flags, name.slice(3));
    const { argument, schema } = found ?? negated ?? unknownFlag(tool, name, flags);
    const isSwitch = typesOf(schema).includes('boolean') && !choicesOf(schema);
    if (negated || (isSwitch && value === undefined && !/^(true|false)$/.test(words[at + 1] ?? ''))) {
      if (!isSwitch || value !== undefined) unknownFlag(tool, name, flags);
      args[argument] = !negated;
      continue;
    }
    const text = value ?? words[(at += 1)];
    if (text === undefined || (value === undefined && text.startsWith('--')))
      throw usageFailure(`--${name}: expected ${describeExpected(schema)}; got nothing`);
    args[argument] = isItem(text, schema)
      ? [
          ...((args[argument] as unknown[] | undefined) ?? []),
          itemFrom(text, schema, inputSchema, `--${name}`),
        ]
      : parseValue(text, schema, `--${name}`);
  }
  return args;
}

function findFlag(flags: ToolFlag[], name: string): ToolFlag | undefined {
  const plain = name.replace(/^arg-/, '');
  return (
    flags.find(({ argument }) => argument === name) ??
    flags.find(({ argument }) => argument === plain) ??
    flags.find(({ argument }) => kebab(argument) === kebab(plain))
  );
}

function unknownFlag(tool: string, name: string, flags: ToolFlag[]): never {
  const known = flags.map(({ flag }) => flag).join(', ') || 'none';
  throw usageFailure(`--${name}: unknown; ${tool} takes ${known} (longhaul call ${tool} --help)`);
}

/** Whether a text is a single item of a list of scalars, rather than JSON. */
function isItem(text: string, schema: JsonSchema): boolean {
  return typesOf(schema).join() === 'array' && !text.trimStart().startsWith('[');
}

function itemFrom(text: string, schema: JsonSchema, root: JsonSchema, where: string): unknown {
  return parseValue(text, resolveSchema(schema['items'] ?? {}, root), where);
}

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** JSON Schema validation of arguments and answers. It interprets schemas, since Temporal's sandbox allows no generated code. */
import { attempt, LonghaulError } from '../errors.js';
import { isObject } from '../json/is-object.js';
import { copySchema, problemsOfSchema } from '../json-schema/authored.js';
import { Validator, type Problem } from '../json-schema/index.js';
import { hasMember } from '../json-schema/objects.js';
import { findPatterns } from '../json-schema/subschemas.js';
import { checkPattern } from '../patterns/index.js';

/** A JSON Schema (2020-12). */
export type JsonSchema = Record<string, unknown>;

/** A convertible schema: zod's, or any other with Standard JSON Schema. */
export interface ConvertibleSchema<Output = unknown> {
  '~standard': {
    jsonSchema: Record<'input' | 'output', (options: { target: 'draft-2020-12' }) => Record<string, unknown>>;
    types?: { input: unknown; output: Output } | undefined;
  };
}

export type AnySchema<Output = unknown> = ConvertibleSchema<Output> | JsonSchema;

/** The type that a schema describes; `Record<string, unknown>` for plain JSON Schema. */
export type Infer<S> = S extends ConvertibleSchema<infer Output> ? Output : Record<string, unknown>;

/**
 * Converts a schema to JSON Schema 2020-12.
 *
 * @param direction values before (`input`) or after (`output`) zod's transforms
 * @throws Error when JSON Schema can't express the schema, or its library can't convert it
 */
export function toJsonSchema(schema: AnySchema, direction: 'input' | 'output' = 'input'): JsonSchema {
  if (!isObject(schema)) throw new Error(`expected a zod schema or a JSON Schema; got ${preview(schema)}`);
  if (!isConvertible(schema)) return withoutSchemas(schema);
  if (!isObject(schema['~standard'].jsonSchema)) {
    throw new Error('expected a schema that gives JSON Schema: zod from 4.2 on, or a plain JSON Schema');
  }
  const { $schema: _dialect, ...json } = schema['~standard'].jsonSchema[direction]({
    target: 'draft-2020-12',
  });
  return json;
}

function isConvertible(schema: unknown): schema is ConvertibleSchema {
  return isObject(schema) && '~standard' in schema;
}

/** Refuses the form of MCP's SDK, `{ cups: z.number() }`, and names the schema to write. */
function withoutSchemas(schema: JsonSchema): JsonSchema {
  const fields = Object.entries(schema);
  if (!fields.some(([, field]) => isConvertible(field))) return schema;
  const written = fields.map(([name, field]) => {
    const type = String((field as { def?: { type?: unknown } } | null)?.def?.type);
    return `${name}: ${/^(string|number|boolean)$/.test(type) ? `z.${type}()` : '...'}`;
  });
  throw new Error(`expected a schema; got an object of schemas; write z.object({ ${written.join(', ')} })`);
}

const validators = new WeakMap<JsonSchema, Validator>();

const MAX_PROBLEMS = 20;

/**
 * Checks a value.
 *
 * @param name name of the value in messages, e.g. `arguments`
 * @returns a line per problem, at most 20, then a line that says there are more: path, what was expected, what came; empty if the value
 *   fits
 */
export function check(schema: JsonSchema, value: unknown, name: string): string[] {
  const problems = validatorOf(schema).problemsOf(value);
  return firstOf([...new Set(problems.map((problem) => line(problem, name)))], name);
}

function firstOf(lines: string[], name: string): string[] {
  if (lines.length <= MAX_PROBLEMS) return lines;
  return [...lines.slice(0, MAX_PROBLEMS), `${name}: and more problems`];
}

function validatorOf(schema: JsonSchema): Validator {
  let validator = validators.get(schema);
  if (!validator) validators.set(schema, (validator = new Validator(schema)));
  return validator;
}

/**
 * Copies an author's schema, and rejects an unusable one: a keyword with a value that JSON Schema doesn't allow, a reference that leads
 * nowhere, a pattern that is no regular expression. Workflows may import tool definitions, so it doesn't load the regular-expression
 * engine.
 *
 * @param name of the schema in messages
 * @throws LonghaulError `invalid_arguments` with a line for each problem: path in the schema, what was expected, what came
 */
export function usableSchema(schema: JsonSchema, name: string): JsonSchema {
  let copy: JsonSchema;
  try {
    copy = copySchema(schema);
  } catch (error) {
    throw new LonghaulError('invalid_arguments', `${name}: ${(error as Error).message}`);
  }
  const lines = problemsOfSchema(copy).map(
    ({ path, expected, got }) => `${name}${schemaPlace(path)}: expected ${expected}; got ${preview(got)}`,
  );
  if (lines.length > 0) throw new LonghaulError('invalid_arguments', firstOf(lines, name).join('\n'));
  forEachPattern(copy, name, checkPattern);
  return copy;
}

/** Target of a part's `$ref`; undefined if it leads nowhere. */
export function referenceTarget(schema: JsonSchema, part: JsonSchema): unknown {
  return validatorOf(schema).targetOf(part);
}

/** Compiles a schema's patterns. @throws LonghaulError `invalid_arguments` that names the path in the schema and the construct */
export function compilePatterns(schema: JsonSchema, name: string): void {
  forEachPattern(schema, name, (pattern) => validatorOf(schema).pattern(pattern));
}

function forEachPattern(schema: JsonSchema, name: string, use: (pattern: string) => void): void {
  for (const { pattern, path } of findPatterns(schema)) {
    try {
      use(pattern);
    } catch (error) {
      throw new LonghaulError(
        'invalid_arguments',
        `${name}${schemaPlace(path)}: ${(error as Error).message}`,
      );
    }
  }
}

/** A path in a schema, for messages: `.properties.a["b c"]`. */
export function schemaPlace(path: readonly string[]): string {
  return path.map((key) => (/^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`)).join('');
}

/** Copies a value with the schema's defaults, also in nested objects and lists, but not in unions and behind references. */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  const { items } = schema;
  if (Array.isArray(value) && isObject(items)) return value.map((item) => withDefaults(items, item));
  if (!isObject(value) || !isObject(schema['properties'])) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [key, property] of Object.entries(schema['properties'])) {
    if (!isObject(property)) continue;
    if (filled[key] === undefined && 'default' in property) filled[key] = property['default'];
    else if (filled[key] !== undefined) filled[key] = withDefaults(property, filled[key]);
  }
  return filled;
}

/** Schema of an object; refuses unknown names unless it allows them. */
export function objectSchema(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    type: 'object',
    properties: schema['properties'] ?? {},
    additionalProperties: schema['additionalProperties'] ?? false,
  };
}

/**
 * Rejects a schema that MCP clients can't show as a form: elicitation takes a flat object of strings, numbers, booleans and enums (specs:
 * 2026-07-28 client/elicitation, "Requested Schema").
 *
 * @throws LonghaulError `invalid_arguments` that names the property
 */
export function assertFlat(schema: JsonSchema, name: string): void {
  const fail = (what: string) => {
    throw new LonghaulError('invalid_arguments', `${name}: ${what}`);
  };
  if (schema['type'] !== 'object' || !isObject(schema['properties']))
    fail('expected an object schema with properties');
  for (const [key, property] of Object.entries(schema['properties'] as Record<string, unknown>)) {
    const isChoice = (one: unknown) =>
      isObject(one) && (Array.isArray(one['enum']) || Array.isArray(one['oneOf']));
    const multiple = isObject(property) && property['type'] === 'array';
    const items = multiple ? (property['items'] as JsonSchema | undefined) : undefined;
    const flat =
      isObject(property) &&
      (isChoice(property) ||
        ['string', 'number', 'integer', 'boolean'].includes(property['type'] as string) ||
        (multiple && (isChoice(items) || (isObject(items) && Array.isArray(items['anyOf'])))));
    if (!flat) {
      fail(
        `property "${key}": expected a string, number, integer, boolean or enum; got ${JSON.stringify(property)}`,
      );
    }
  }
}

function line({ keyword, path, rule, found, error }: Problem, name: string): string {
  const where = name + path.map((key) => (/^\d+$/.test(String(key)) ? `[${key}]` : `.${key}`)).join('');
  if (keyword === 'required') {
    const missing = (rule as string[]).filter((key) => !hasMember(found as JsonSchema, key));
    return `${where}: missing ${missing.map((key) => `"${key}"`).join(', ')}`;
  }
  if (keyword === 'false') return `${where}: unknown; remove it`;
  return `${where}: ${error ?? `expected ${expectation(keyword, rule)}`}; got ${preview(found)}`;
}

function expectation(keyword: string, rule: unknown): string {
  switch (keyword) {
    case 'type':
      return [rule].flat().join(' or ');
    case 'enum':
      return `one of ${(rule as unknown[]).map((one) => JSON.stringify(one)).join(', ')}`;
    case 'const':
      return JSON.stringify(rule);
    default:
      return `${keyword} ${String(rule)}`;
  }
}

export function preview(value: unknown): string {
  if (value === undefined) return 'nothing';
  // Circular objects, functions and symbols have no JSON.
  const text =
    typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : (attempt(() => JSON.stringify(value)) ?? `a ${typeof value}`);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

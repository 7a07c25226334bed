/**
 * One validator over JSON Schema, for arguments and answers, in the server as in Temporal's sandbox (hence one
 * that interprets schemas: generated code isn't allowed there). Zod schemas are converted.
 */
import { Validator, type OutputUnit } from '@cfworker/json-schema';
import { LonghaulError } from './errors.js';

/** A JSON Schema (2020-12) as a plain object. */
export type JsonSchema = Record<string, unknown>;

/** A library's schema that can be converted: zod's, or any other with Standard JSON Schema. */
export interface ConvertibleSchema<Output = unknown> {
  '~standard': {
    jsonSchema: Record<'input' | 'output', (options: { target: 'draft-2020-12' }) => Record<string, unknown>>;
    types?: { input: unknown; output: Output } | undefined;
  };
}

/** A schema as authors write it: zod's, or JSON Schema itself. */
export type AnySchema<Output = unknown> = ConvertibleSchema<Output> | JsonSchema;

/** The type that a schema describes; `Record<string, unknown>` for plain JSON Schema. */
export type Infer<S> = S extends ConvertibleSchema<infer Output> ? Output : Record<string, unknown>;

/**
 * Converts a schema to JSON Schema 2020-12.
 *
 * @param direction what the schema describes: a value before (`input`) or after (`output`) zod's transforms
 * @throws Error when the schema holds what JSON Schema can't say, or comes from a library that can't convert it
 */
export function toJsonSchema(schema: AnySchema, direction: 'input' | 'output' = 'input'): JsonSchema {
  if (!isObject(schema)) throw new Error(`expected a zod schema or a JSON Schema; got ${preview(schema)}`);
  if (!isConvertible(schema)) return schema;
  if (!isObject(schema['~standard'].jsonSchema)) {
    throw new Error('expected a schema that gives JSON Schema: zod from 4.2 on, or a plain JSON Schema');
  }
  const { $schema: _dialect, ...json } = schema['~standard'].jsonSchema[direction]({
    target: 'draft-2020-12',
  });
  return json;
}

function isConvertible(schema: AnySchema): schema is ConvertibleSchema {
  return '~standard' in schema;
}

const validators = new WeakMap<JsonSchema, { whole: Validator; first: Validator }>();

/** Values with more parts than this are checked up to the first problem: finding all may take seconds. */
const MANY_PARTS = 1_000;
/** Most problems that are listed. */
const MAX_PROBLEMS = 20;

/**
 * Checks a value.
 *
 * @param name what the value is called in messages, e.g. `arguments`
 * @returns one line for each problem: path, what was expected, what came; empty when the value fits. At most 20, and how
 *   many more there are; of a value with over 1,000 parts only the first
 */
export function check(schema: JsonSchema, value: unknown, name: string): string[] {
  let validator = validators.get(schema);
  if (!validator) {
    const [first, whole] = [true, false].map((isShort) => new Validator(schema, '2020-12', isShort));
    validator = { first: first!, whole: whole! };
    validators.set(schema, validator);
  }
  const quick = validator.first.validate(value);
  if (quick.valid) return [];
  const { errors } = hasManyParts(value) ? quick : validator.whole.validate(value);
  const problems = errors
    .filter((unit) => !APPLICATORS.has(unit.keyword))
    .map((unit) => line(schema, value, unit, name));
  const all = [
    ...new Set(problems.length ? problems : errors.map((unit) => line(schema, value, unit, name))),
  ];
  if (all.length <= MAX_PROBLEMS) return all;
  return [...all.slice(0, MAX_PROBLEMS), `${name}: ${all.length - MAX_PROBLEMS} more problems`];
}

function hasManyParts(value: unknown): boolean {
  let count = 0;
  const visit = (at: unknown): boolean => {
    if (typeof at !== 'object' || at === null) return (count += 1) > MANY_PARTS;
    for (const one of Object.values(at)) if (visit(one)) return true;
    return (count += 1) > MANY_PARTS;
  };
  return visit(value);
}

/**
 * Fills in the defaults that a schema gives for missing properties, also in nested objects and lists (not in
 * unions and behind references); the value itself is left as it is.
 */
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

/**
 * Refuses a schema that no MCP client could show as a form: elicitation takes a flat object of strings, numbers,
 * booleans and enums (specs: 2026-07-28 client/elicitation, "Requested Schema").
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

/** Keywords that only say that something beneath them failed. */
const APPLICATORS = new Set([
  'properties',
  'items',
  'prefixItems',
  'allOf',
  '$ref',
  'additionalProperties',
  'if',
  'then',
]);

function line(schema: JsonSchema, value: unknown, unit: OutputUnit, name: string): string {
  const path = unit.instanceLocation.split('/').slice(1).map(unescapePointer);
  const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
  const rule = unit.keywordLocation
    .split('/')
    .slice(1)
    .map(unescapePointer)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], schema);
  const where = name + path.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`)).join('');
  if (unit.keyword === 'required') {
    const missing = Array.isArray(rule) ? rule.filter((key) => !isObject(found) || !(key in found)) : [];
    if (missing.length) return `${where}: missing ${missing.map((key) => `"${String(key)}"`).join(', ')}`;
  }
  if (unit.keyword === 'false') return `${where}: unknown; remove it`;
  return `${where}: ${expectation(unit, rule)}; got ${preview(found)}`;
}

function expectation(unit: OutputUnit, rule: unknown): string {
  switch (unit.keyword) {
    case 'type':
      return rule === undefined
        ? unit.error
        : `expected ${Array.isArray(rule) ? rule.join(' or ') : (rule as string)}`;
    case 'enum':
      return Array.isArray(rule)
        ? `expected one of ${rule.map((one) => JSON.stringify(one)).join(', ')}`
        : unit.error;
    case 'const':
      return `expected ${JSON.stringify(rule)}`;
    case 'minimum':
    case 'maximum':
    case 'minLength':
    case 'maxLength':
    case 'minItems':
    case 'maxItems':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'pattern':
    case 'format':
      return rule === undefined ? unit.error : `expected ${unit.keyword} ${rule as string | number}`;
    default:
      return unit.error;
  }
}

function preview(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function unescapePointer(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

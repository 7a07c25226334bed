/** Parses text by JSON Schema, for flags of a call and fields of an answer. */
import { isObject } from '../../operations/json/is-object.js';
import { inexactNumberIn, inexactNumberMessage } from '../../operations/json/json-text.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { usageFailure } from '../client/failures.js';

export { isObject };

export interface Choice {
  value: unknown;
  label: string;
}

/** Resolves references within the document and alternatives of a property. */
export function resolveSchema(schema: unknown, root: JsonSchema): JsonSchema {
  if (typeof schema !== 'object' || schema === null) return {};
  const { $ref } = schema as JsonSchema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema as JsonSchema;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as JsonSchema | undefined)?.[key], root);
  const { $ref: _ref, ...beside } = schema as JsonSchema;
  return { ...(target as JsonSchema | undefined), ...beside };
}

export function propertiesOf(schema: JsonSchema): [name: string, schema: JsonSchema][] {
  return Object.entries((schema['properties'] ?? {}) as JsonSchema).map(([name, property]) => [
    name,
    resolveSchema(property, schema),
  ]);
}

export function isRequired(schema: JsonSchema, name: string): boolean {
  const { required } = schema;
  return Array.isArray(required) && required.includes(name);
}

/** The values of an enum, in any of MCP's forms, also with null; undefined for other schemas. */
export function choicesOf(schema: JsonSchema): Choice[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values))
    return values.map((value: unknown, index) => ({
      value,
      label: (names as string[] | undefined)?.[index] ?? formatValue(value),
    }));
  if ('const' in schema) {
    const value = schema['const'];
    return [{ value, label: (schema['title'] as string | undefined) ?? formatValue(value) }];
  }
  const choices = optionsOf(schema).map((one) =>
    one['type'] === 'null' ? [{ value: null, label: 'null' }] : choicesOf(one),
  );
  const listed = choices.flatMap((one) => one ?? []);
  const isChoice = choices.every((one) => one !== undefined) && listed.some(({ value }) => value !== null);
  return isChoice ? listed : undefined;
}

/** The alternatives of a schema, if it has any. */
function optionsOf(schema: JsonSchema): JsonSchema[] {
  const options = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(options) ? options.map((one: unknown) => (isObject(one) ? one : {})) : [];
}

/** The types that a value may have; empty when the schema names none. */
export function typesOf(schema: JsonSchema): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type as string[];
  return [...new Set(optionsOf(schema).flatMap(typesOf))];
}

/** Short description of the expected value: `number`, `a|b|c`, `JSON array`. */
export function describeExpected(schema: JsonSchema): string {
  const choices = choicesOf(schema);
  if (choices) return choices.map(({ value }) => formatValue(value)).join('|');
  const words = typesOf(schema)
    .filter((type) => type !== 'null')
    .map((type) => (type === 'array' || type === 'object' ? `JSON ${type}` : type));
  return words.join(' or ') || 'JSON or text';
}

/** @param where name of the value, such as `--seconds` @throws CommandFailure that says where, what was expected and what came */
export function parseValue(text: string, schema: JsonSchema, where: string): unknown {
  const fail = (): never => {
    throw usageFailure(`${where}: expected ${describeExpected(schema)}; got ${JSON.stringify(text)}`);
  };
  const choices = choicesOf(schema);
  if (choices) {
    const chosen = choices.find(({ value }) => formatValue(value) === text);
    return chosen ? chosen.value : fail();
  }
  const types = typesOf(schema);
  const json = parseJson(text);
  const exactJson = () => parseExactJson(text, where);
  const isFree = types.length === 0;
  // If the schema allows text, a number that a double can't hold counts as text.
  const isNumber = typeof json === 'number' && !(types.includes('string') && inexactNumberIn(text));
  if (types.includes('null') && text === 'null') return null;
  if (types.includes('boolean') && typeof json === 'boolean') return json;
  if (types.includes('number') && isNumber) return exactJson();
  if (types.includes('integer') && isNumber) return Number.isInteger(exactJson()) ? json : fail();
  if (types.includes('array') && Array.isArray(json)) return exactJson();
  if (types.includes('object') && isObject(json)) return exactJson();
  if (types.includes('string')) return text;
  if (isFree) return json === undefined ? text : exactJson();
  return fail();
}

/** Parses JSON; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses the user's JSON; undefined for invalid JSON. @throws CommandFailure for a number that a double can't hold */
export function parseExactJson(text: string, where: string): unknown {
  const value = parseJson(text);
  const inexact = value === undefined ? undefined : inexactNumberIn(text);
  if (inexact)
    throw usageFailure(`${[where, ...inexact.path].join('.')}: ${inexactNumberMessage(inexact.number)}`);
  return value;
}

/** Formats a value as {@link parseValue} reads it. */
export function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

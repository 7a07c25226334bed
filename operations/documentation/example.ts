/** Generates example values from schemas, for tools whose author gave no example. */
import { isObject } from '../json/is-object.js';
import { resolveReference } from '../tool/schema-references.js';
import { check, type JsonSchema } from '../tool/schema.js';

const DEEPEST = 8;
/** Maximum number of schemas to read for an example. */
const MAX_PARTS = 1_000;
/** Maximum length of a text, in characters, and of a list, in items. */
const MAX_LENGTH = 1_000;

interface Search {
  root: JsonSchema;
  partsLeft: number;
}

/**
 * The simplest value that fits: required properties only, from `default`, `examples`, `const` and `enum` where given. Undefined if none is
 * found, as for a text with a pattern, or if it would be large.
 */
export function exampleOf(schema: JsonSchema): unknown {
  const value = valueOf(schema, { root: schema, partsLeft: MAX_PARTS }, 0);
  return value !== undefined && check(schema, value, 'example').length === 0 ? value : undefined;
}

function valueOf(schema: unknown, search: Search, depth: number): unknown {
  search.partsLeft -= 1;
  if (depth > DEEPEST || search.partsLeft < 0) return undefined;
  if (schema === true) return 'text';
  if (!isObject(schema)) return undefined;
  const { examples, enum: choices, $ref: reference } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown;
  if (typeof reference === 'string')
    return valueOf(resolveReference(search.root, reference), search, depth + 1);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const [first] = (schema[keyword] as unknown[] | undefined) ?? [];
    if (first !== undefined) return valueOf(first, search, depth + 1);
  }
  const [type] = [schema['type']].flat();
  if (type === 'array') return listOf(schema, search, depth);
  if (type === 'object' || (type === undefined && schema['properties'] !== undefined))
    return objectOf(schema, search, depth);
  return scalarOf(schema);
}

function listOf({ items = true, minItems = 0 }: JsonSchema, search: Search, depth: number): unknown {
  if (Number(minItems) > MAX_LENGTH) return undefined;
  if (Number(minItems) === 0) return [];
  const item = valueOf(items, search, depth + 1);
  return item === undefined ? undefined : Array.from({ length: Number(minItems) }, () => item);
}

function objectOf({ properties = {}, required = [] }: JsonSchema, search: Search, depth: number): unknown {
  const values = (required as string[]).map((name) => {
    const property = Object.hasOwn(properties as object, name) ? (properties as JsonSchema)[name] : true;
    return [name, valueOf(property, search, depth + 1)] as const;
  });
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
}

/** Keywords that a generated scalar obeys. The check of the whole value covers others, such as patterns. */
const SCALAR_KEYWORDS = new Set(
  'type format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'.split(' '),
);
const TEXTS = [
  '2026-01-31',
  '2026-01-31T12:00:00Z',
  '12:00:00Z',
  'ada@example.org',
  'https://example.org/',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
];

function scalarOf(schema: JsonSchema): unknown {
  const own = Object.fromEntries(Object.entries(schema).filter(([keyword]) => SCALAR_KEYWORDS.has(keyword)));
  const { minLength = 0, maxLength, minimum, maximum, ...bounds } = own as Record<string, number>;
  const { exclusiveMinimum = NaN, exclusiveMaximum = NaN } = bounds;
  const sized = 'text'.padEnd(Math.min(minLength, MAX_LENGTH), '.').slice(0, maxLength);
  const numbers = [1, minimum, maximum, exclusiveMinimum + 1, exclusiveMaximum - 1].filter(Number.isFinite);
  return [sized, ...TEXTS, ...numbers, true, null].find((one) => check(own, one, 'example').length === 0);
}

/** Example values generated from a schema, for example calls where the tool's author gave none. */
import { isObject } from '../is-object.js';
import { check, type JsonSchema } from '../schema.js';

/** Maximum nesting of schemas. */
const DEEPEST = 8;

/**
 * The simplest value that fits: required properties only, from `default`, `examples`, `const` and `enum` where the schema has
 * them. Undefined when none is found, as for a text with a pattern.
 */
export function exampleOf(schema: JsonSchema): unknown {
  const value = valueOf(schema, schema, 0);
  return value !== undefined && check(schema, value, 'example').length === 0 ? value : undefined;
}

function valueOf(schema: unknown, root: JsonSchema, depth: number): unknown {
  if (!isObject(schema) || depth > DEEPEST) return undefined;
  const { examples, enum: choices, $ref: reference } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if ('default' in schema) return schema['default'];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as unknown;
  if (typeof reference === 'string') return valueOf(referred(root, reference), root, depth + 1);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const [first] = (schema[keyword] as unknown[] | undefined) ?? [];
    if (first !== undefined) return valueOf(first, root, depth + 1);
  }
  return OF_TYPE[typeOf(schema)]?.(schema, root, depth);
}

const OF_TYPE: Partial<Record<string, (schema: JsonSchema, root: JsonSchema, depth: number) => unknown>> = {
  string: ({ minLength = 0, maxLength = Infinity, format }) =>
    FORMATS[String(format)] ?? 'text'.padEnd(Number(minLength), '.').slice(0, Number(maxLength)),
  integer: numberWithin,
  number: numberWithin,
  boolean: () => true,
  null: () => null,
  array({ items, minItems = 0 }, root, depth) {
    const item = Number(minItems) > 0 ? valueOf(items, root, depth + 1) : undefined;
    return Array.from({ length: Number(minItems) }, () => item);
  },
  object({ properties = {}, required = [] }, root, depth) {
    const names = required as string[];
    const values = names.map((name) => valueOf((properties as JsonSchema)[name], root, depth + 1));
    return Object.fromEntries(names.map((name, index) => [name, values[index]]));
  },
};

const FORMATS: Partial<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.org',
  uri: 'https://example.org/',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
};

function numberWithin({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonSchema): number {
  const least = Number(
    minimum ?? (exclusiveMinimum === undefined ? -Infinity : Number(exclusiveMinimum) + 1),
  );
  const most = Number(maximum ?? (exclusiveMaximum === undefined ? Infinity : Number(exclusiveMaximum) - 1));
  return Math.min(Math.max(1, least), most);
}

function typeOf({ type, properties }: JsonSchema): string {
  const [first] = [type].flat();
  return typeof first === 'string' ? first : properties === undefined ? 'string' : 'object';
}

/** Resolves a local reference such as `#/$defs/name`. */
function referred(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (at, key) => (isObject(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      root,
    );
}

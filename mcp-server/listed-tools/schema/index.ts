/**
 * JSON Schemas as clients get them: in forms that all known clients accept, and without keywords that allow everything, since
 * models pay for each. Calls are checked against the author's schema.
 */
import { DATA_KEYWORDS, MAP_KEYWORDS } from '../../../operations/json-schema/subschemas.js';
import { defined } from '../../../operations/json/defined.js';
import { isObject } from '../../../operations/json/is-object.js';
import type { JsonSchema } from '../../../operations/tool/schema.js';
import { portableSchema } from './portable.js';

const listed = new WeakMap<JsonSchema, JsonSchema>();

/** A result's schema, open to fields of later releases. */
export function openSchema(schema: JsonSchema): JsonSchema {
  return strip(schema, (key, value) => key === 'additionalProperties' && value === false) as JsonSchema;
}

/** An arguments' schema without string lengths: models don't count characters, and the server still checks them. */
export function looseSchema(schema: JsonSchema): JsonSchema {
  return strip(listedSchema(schema), (key) => key === 'minLength' || key === 'maxLength') as JsonSchema;
}

/** A result's schema with only its own properties. Descriptions name what matters within them. */
export function shallowSchema(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = listedSchema(schema);
  const outline = ({ type, enum: choices, const: constant, description, items }: JsonSchema) =>
    // Code generators skip lists without items.
    defined({
      type,
      enum: choices,
      const: constant,
      description,
      items: isObject(items) ? typeOf(items) : items,
    });
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties as Record<string, JsonSchema>).map(([name, one]) => [name, outline(one)]),
    ),
  };
}

function typeOf({ type }: JsonSchema): JsonSchema {
  return defined({ type });
}

/** Portable, without zod's safe integer bounds or keywords that allow anything. Accepts all values that the author's schema does. */
export function listedSchema(schema: JsonSchema): JsonSchema {
  let found = listed.get(schema);
  if (!found) listed.set(schema, (found = withoutNoise(portableSchema(schema))));
  return found;
}

function strip(schema: unknown, isRemoved: (key: string, value: unknown) => boolean): unknown {
  const inner = (one: unknown) => strip(one, isRemoved);
  if (Array.isArray(schema)) return schema.map(inner);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (isRemoved(key, value)) return [];
      if (DATA_KEYWORDS.has(key)) return [[key, value]];
      if (!MAP_KEYWORDS.has(key) || !isObject(value)) return [[key, inner(value)]];
      return [[key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))]];
    }),
  );
}

function withoutNoise(schema: JsonSchema): JsonSchema {
  // It refuses what `additionalProperties` hasn't allowed.
  const isNeeded = JSON.stringify(schema).includes('"unevaluatedProperties"');
  return strip(schema, (key, value) =>
    key === 'additionalProperties' ? !isNeeded && isNoise(key, value) : isNoise(key, value),
  ) as JsonSchema;
}

function isNoise(key: string, value: unknown): boolean {
  switch (key) {
    case 'minimum':
      return value === Number.MIN_SAFE_INTEGER;
    case 'maximum':
      return value === Number.MAX_SAFE_INTEGER;
    case 'additionalProperties':
      return isObject(value) && Object.keys(value).length === 0;
    // Not a JSON Schema keyword. MCP's TypeScript SDK refuses all tools for it where there is no type.
    case 'nullable':
      return true;
    case 'propertyNames':
      return JSON.stringify(value) === '{"type":"string"}';
    default:
      return false;
  }
}

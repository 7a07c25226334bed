/**
 * Rewrites a schema into forms that all known clients take. For a form that they don't know, some clients refuse all tools of the
 * server: LlamaIndex and mcp-use `items: false`, DSPy and Semantic Kernel a list of types, MCP's SDK for TypeScript 1.x a boolean
 * as an argument's schema and an empty `enum`.
 */
import { isObject } from '../../../operations/is-object.js';
import { mapSubschemas } from '../../../operations/json-schema/subschemas.js';
import type { JsonSchema } from '../../../operations/schema.js';
import { withPlainReferences } from './plain-references.js';

/** The schema in portable forms: it accepts every value that the author's accepts, and `$ref` leads to `#` or a definition at the top. */
export function portableSchema(schema: JsonSchema): JsonSchema {
  return portable(withPlainReferences(schema)) as JsonSchema;
}

/** Fits no value. */
const NOTHING: JsonSchema = { not: {} };

/** Keywords under which a boolean is common, so that clients know it. */
const BOOLEAN_KEYWORDS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
]);

function portable(schema: unknown, keyword = ''): unknown {
  if (typeof schema === 'boolean') return BOOLEAN_KEYWORDS.has(keyword) ? schema : schema ? {} : NOTHING;
  if (!isObject(schema)) return schema;
  return withoutTypeList(withoutEmptyEnum(mapSubschemas(withPortableTuple(schema), portable)));
}

/**
 * Closes a tuple by `maxItems` instead of `items: false`. Its `items` become any of its parts, since clients that know no
 * `prefixItems` apply them to the whole list (MCP's SDK for TypeScript 1.x). A tuple as drafts before 2020-12 write it, by a list in
 * `items`, gets `prefixItems`.
 */
function withPortableTuple(schema: JsonSchema): JsonSchema {
  const { items, prefixItems, additionalItems, ...rest } = schema;
  const isOlder = Array.isArray(items);
  const prefix = (isOlder ? items : (prefixItems ?? [])) as unknown[];
  const others = isOlder ? additionalItems : items;
  if (prefix.length === 0 && others !== false) return schema;
  const tuple = { ...rest, ...(prefix.length > 0 ? { prefixItems: prefix } : {}) };
  if (others === undefined) return tuple;
  if (others !== false) return { ...tuple, items: others === true ? true : anyOf([...prefix, others]) };
  const maxItems = Math.min(prefix.length, Number(rest['maxItems'] ?? Infinity));
  return { ...tuple, items: anyOf(prefix), maxItems };
}

/** A schema that fits what one of these fits; for none of them, anything. */
function anyOf(schemas: unknown[]): unknown {
  const [first = {}, ...others] = new Map(schemas.map((one) => [JSON.stringify(one), one])).values();
  return others.length > 0 ? { anyOf: [first, ...others] } : first;
}

const NUMERIC = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'];
/** Keywords that apply to values of one type alone. */
const KEYWORDS_OF: Readonly<Record<string, readonly string[]>> = {
  string: [
    ...['minLength', 'maxLength', 'pattern', 'format'],
    ...['contentEncoding', 'contentMediaType', 'contentSchema'],
  ],
  number: NUMERIC,
  integer: NUMERIC,
  array: [
    ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
    ...['contains', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required'],
    ...['minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ],
};
const OF_ONE_TYPE: ReadonlySet<string> = new Set(Object.values(KEYWORDS_OF).flat());

/** Replaces a list of types by `anyOf`, each branch with the keywords and values of its type. */
function withoutTypeList(schema: JsonSchema): JsonSchema {
  const { type: types, enum: values, ...rest } = schema;
  if (!Array.isArray(types)) return schema;
  const branches = (types as string[]).flatMap((type): JsonSchema[] => {
    if ('const' in rest && !isOfType(rest['const'], type)) return [];
    const choices = (values as unknown[] | undefined)?.filter((value) => isOfType(value, type));
    if (choices?.length === 0) return [];
    const own = Object.entries(rest).filter(([key]) => KEYWORDS_OF[type]?.includes(key));
    return [{ type, ...Object.fromEntries(own), ...(choices && type !== 'null' ? { enum: choices } : {}) }];
  });
  const shared = Object.fromEntries(Object.entries(rest).filter(([key]) => !OF_ONE_TYPE.has(key)));
  if (branches.length === 1) return { ...shared, ...branches[0] };
  return both(shared, branches.length > 0 ? { anyOf: branches } : NOTHING);
}

/** An empty `enum` allows nothing. */
function withoutEmptyEnum(schema: JsonSchema): JsonSchema {
  const { enum: values, ...rest } = schema;
  return Array.isArray(values) && values.length === 0 ? both(rest, NOTHING) : schema;
}

/** A schema that fits what both fit. */
function both(schema: JsonSchema, other: JsonSchema): JsonSchema {
  if (!Object.keys(other).some((key) => key in schema)) return { ...schema, ...other };
  return { ...schema, allOf: [...((schema['allOf'] as unknown[] | undefined) ?? []), other] };
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/**
 * Rewrites a schema into forms that all known clients accept. Some clients refuse all the server's tools for an unknown form:
 * LlamaIndex and mcp-use for `items: false`, DSPy and Semantic Kernel for a list of types, MCP's TypeScript SDK 1.x for a boolean
 * as an argument's schema and for an empty `enum`.
 */
import { isObject } from '../../../operations/json/is-object.js';
import { mapSubschemas } from '../../../operations/json-schema/subschemas.js';
import { referenceTarget, type JsonSchema } from '../../../operations/tool/schema.js';

/** Accepts every value that the author's schema accepts. `$ref` leads to `#` or to a definition at the top. */
export function portableSchema(schema: JsonSchema): JsonSchema {
  return portable(withPlainReferences(schema)) as JsonSchema;
}

/** Accepts no value. */
const NOTHING: JsonSchema = { not: {} };

/** Keywords that often have booleans, so clients know them there. */
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
 * Closes a tuple by `maxItems` instead of `items: false`. Its `items` become any of its parts, since clients without `prefixItems`
 * apply them to the whole list (MCP's TypeScript SDK 1.x). A tuple as before draft 2020-12, a list in `items`, gets `prefixItems`.
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

/** A schema that accepts what any of these accepts. Without any, it accepts everything. */
function anyOf(schemas: unknown[]): unknown {
  const [first = {}, ...others] = new Map(schemas.map((one) => [JSON.stringify(one), one])).values();
  return others.length > 0 ? { anyOf: [first, ...others] } : first;
}

const NUMERIC = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'];
/** Keywords that apply to values of only one type. */
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

/** Replaces a list of types by `anyOf`. Each branch has its type's keywords and values. */
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

/** A schema that accepts what both accept. */
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

/** The dialect of listed schemas, also without `$schema` (specs: 2026-07-28 basic, "JSON Schema Usage"). */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/**
 * References that clients can follow. Most know only `#/$defs/name`, and a rewritten schema has other paths than its author's. So this
 * copies the targets of other references to `$defs`. Drops `$id`, because clients that cache schemas by it would mix up tools.
 * Keeps each `$anchor` once, and `$schema` where it names the dialect.
 */
function withPlainReferences(root: JsonSchema): JsonSchema {
  const definitions = (root['$defs'] ?? {}) as JsonSchema;
  const pointers = new Map<unknown, string>([
    [root, '#'],
    ...['$defs', 'definitions'].flatMap((keyword) =>
      Object.entries((root[keyword] ?? {}) as JsonSchema).map(([name, schema]): [unknown, string] => {
        const pointer = `#/${keyword}/${escaped(name)}`;
        return [isObject(schema) ? schema : pointer, pointer];
      }),
    ),
  ]);
  const added: JsonSchema = {};
  const anchors = new Set<unknown>();
  const pointerTo = (target: unknown, reference: unknown): string => {
    // Booleans have no identity.
    const key = isObject(target) ? target : reference;
    const known = pointers.get(key);
    if (known !== undefined) return known;
    const name = freeName({ ...definitions, ...added });
    pointers.set(key, `#/$defs/${name}`);
    // Reserves the name: the target may refer to itself.
    added[name] = true;
    added[name] = visit(target);
    return `#/$defs/${name}`;
  };
  const visit = (schema: unknown): unknown => {
    if (!isObject(schema)) return schema;
    const { $schema, $id: _id, id: _older, $anchor, ...rest } = mapSubschemas(schema, visit);
    const isNew = $anchor !== undefined && !anchors.has($anchor);
    anchors.add($anchor);
    const target = typeof rest['$ref'] === 'string' ? referenceTarget(root, schema) : undefined;
    return {
      ...($schema === DIALECT ? { $schema } : {}),
      ...(isNew ? { $anchor } : {}),
      ...rest,
      ...(target === undefined ? {} : { $ref: pointerTo(target, rest['$ref']) }),
    };
  };
  const copy = visit(root) as JsonSchema;
  if (Object.keys(added).length === 0) return copy;
  return { ...copy, $defs: { ...(copy['$defs'] as JsonSchema | undefined), ...added } };
}

function freeName(taken: JsonSchema): string {
  for (let number = 1; ; number += 1) {
    const name = `schema${number}`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}

/** A name as part of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function escaped(name: string): string {
  return encodeURI(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

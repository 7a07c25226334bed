/** Subschemas and patterns of a schema, and the groups of keywords to find them by. */
import { isObject } from '../json/is-object.js';

type JsonSchema = Record<string, unknown>;

/** Keywords whose values are data, not schemas. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'const',
  'default',
  'enum',
  'examples',
  'example',
]);
/** Keywords with a schema as value. Before 2020-12, `items` may be a list of them. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'contains',
  'unevaluatedItems',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'contentSchema',
  'not',
  'if',
  'then',
  'else',
]);
export const LIST_KEYWORDS: ReadonlySet<string> = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf']);
/** Keywords that map names to schemas. Before 2020-12, `dependencies` may map them to lists of names. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
]);
/** In-place applicators: their schemas apply to the same value, like `$ref`. */
export const IN_PLACE_KEYWORDS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

export interface Subschema {
  keyword: string;
  /** Path in the schema: the keyword, and the name or index under it. */
  path: string[];
  schema: unknown;
}

export function subschemasOf(schema: JsonSchema): Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]): Subschema[] => {
    if (!holdsMany(keyword, value))
      return SCHEMA_KEYWORDS.has(keyword) ? [{ keyword, path: [keyword], schema: value }] : [];
    return Object.entries(value).flatMap(([key, one]) =>
      isNames(keyword, one) ? [] : [{ keyword, path: [keyword, key], schema: one }],
    );
  });
}

export function mapSubschemas(
  schema: JsonSchema,
  change: (subschema: unknown, keyword: string) => unknown,
): JsonSchema {
  const changed = (keyword: string, value: unknown) => {
    if (!holdsMany(keyword, value)) return SCHEMA_KEYWORDS.has(keyword) ? change(value, keyword) : value;
    if (Array.isArray(value)) return value.map((one) => change(one, keyword));
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, isNames(keyword, one) ? one : change(one, keyword)]),
    );
  };
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changed(keyword, value)]),
  );
}

function holdsMany(keyword: string, value: unknown): value is JsonSchema | unknown[] {
  if (Array.isArray(value)) return LIST_KEYWORDS.has(keyword) || keyword === 'items';
  return MAP_KEYWORDS.has(keyword) && isObject(value);
}

/** Whether a value of a map lists names, as in `dependencies`. */
function isNames(keyword: string, value: unknown): boolean {
  return keyword === 'dependencies' && Array.isArray(value);
}

/** A pattern and its path in the schema: keywords, names and indexes. */
interface PatternPlace {
  pattern: string;
  path: string[];
}

/** All patterns of a schema: values of `pattern`, and names in `patternProperties`. */
export function findPatterns(schema: unknown): PatternPlace[] {
  const found: PatternPlace[] = [];
  const done = new Set<unknown>();
  const visit = (at: unknown, path: string[], isMap: boolean): void => {
    if (typeof at !== 'object' || at === null || done.has(at)) return;
    done.add(at);
    for (const [key, value] of Object.entries(at)) {
      const here = [...path, key];
      if (isMap) {
        if (path.at(-1) === 'patternProperties') found.push({ pattern: key, path: here });
        visit(value, here, false);
      } else if (key === 'pattern' && typeof value === 'string') found.push({ pattern: value, path: here });
      else if (!DATA_KEYWORDS.has(key)) visit(value, here, MAP_KEYWORDS.has(key));
    }
  };
  visit(schema, [], false);
  return found;
}

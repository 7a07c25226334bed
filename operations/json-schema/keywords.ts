/** Groups of JSON Schema keywords, for traversing a schema. */

/** Keywords whose values are data, not schemas. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'const',
  'default',
  'enum',
  'examples',
  'example',
]);
/** Keywords with a schema as value. Before 2020-12, `items` may be a list of them. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
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

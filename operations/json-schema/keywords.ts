/** Groups of JSON Schema keywords, for traversing a schema. */

/** Keywords whose values are data, not schemas. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'const',
  'default',
  'enum',
  'examples',
  'example',
]);
/** Keywords whose values map arbitrary names to schemas. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/** Kinds of JSON Schema's keywords, for walks through a schema. */

/** Keywords whose values are data and no schemas. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'const',
  'default',
  'enum',
  'examples',
  'example',
]);
/** Keywords whose values map names of any kind to schemas. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

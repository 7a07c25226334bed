/** Argument schemas that refuse misspelt names. */
import { isObject } from './is-object.js';
import { propertyNames } from './schema-references.js';
import type { JsonSchema } from './schema.js';

/** Keywords beside which `additionalProperties` would refuse properties of other schemas. */
const COMPOSING_KEYWORDS = ['allOf', '$ref', '$dynamicRef'];

/** Refuses unnamed properties, so no misspelt argument is ignored, unless the author has decided or a subschema names more. */
export function closed(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  const isDecided = ['additionalProperties', 'unevaluatedProperties', ...COMPOSING_KEYWORDS].some(
    (keyword) => keyword in schema,
  );
  if (isDecided || !isObject(properties)) return schema;
  const isNamedElsewhere = [...propertyNames(schema)].some((name) => !Object.hasOwn(properties, name));
  return isNamedElsewhere ? schema : { ...schema, additionalProperties: false };
}

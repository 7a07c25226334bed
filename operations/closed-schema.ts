/** Schemas of arguments that refuse misspelt ones. */
import { isObject } from './is-object.js';
import { propertyNames } from './schema-references.js';
import type { JsonSchema } from './schema.js';

/** Keywords beside which `additionalProperties` would refuse properties that another schema names. */
const COMPOSING_KEYWORDS = ['allOf', '$ref', '$dynamicRef'];

/**
 * The schema, refusing properties that it doesn't name, so that a misspelt argument isn't ignored. Unchanged if its author has said what
 * becomes of them, or if a subschema names some.
 */
export function closed(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  const isDecided = ['additionalProperties', 'unevaluatedProperties', ...COMPOSING_KEYWORDS].some(
    (keyword) => keyword in schema,
  );
  if (isDecided || !isObject(properties)) return schema;
  const isNamedElsewhere = [...propertyNames(schema)].some((name) => !Object.hasOwn(properties, name));
  return isNamedElsewhere ? schema : { ...schema, additionalProperties: false };
}

import type { JsonSchema } from '../../operations/schema.js';

/**
 * Removes null arguments that the schema declares as optional, with another type and no default. Some clients present such
 * arguments to their models as nullable (LlamaIndex: `anyOf: [..., {type: null}], default: null`) and send the model's value.
 *
 * @param schema the tool's published input schema
 */
export function withoutNulls(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema | boolean>;
  const required = (schema['required'] ?? []) as string[];
  const isUnset = ([name, value]: [string, unknown]) =>
    value === null &&
    Object.hasOwn(properties, name) &&
    !required.includes(name) &&
    !keepsNull(properties[name]!);
  return Object.fromEntries(Object.entries(args).filter((entry) => !isUnset(entry)));
}

/** False only for a property without default, with a plain type or enum that excludes null. */
function keepsNull(property: JsonSchema | boolean): boolean {
  if (typeof property === 'boolean' || 'default' in property) return true;
  const { type, enum: values } = property as { type?: string | string[]; enum?: unknown[] };
  if (values) return values.includes(null);
  return type === undefined || [type].flat().includes('null');
}

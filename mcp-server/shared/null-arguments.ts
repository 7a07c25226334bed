import type { JsonSchema } from '../../operations/schema.js';

/**
 * Removes arguments that are null although the schema declares them as optional, with another type and without a default.
 * Some clients present such arguments to their models as nullable (LlamaIndex: `anyOf: [..., {type: null}], default: null`)
 * and send the model's value. Other arguments stay as they are.
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

/** Whether null is kept: unless the property has no default, and a plain type or enum that excludes null. */
function keepsNull(property: JsonSchema | boolean): boolean {
  if (typeof property === 'boolean' || 'default' in property) return true;
  const { type, enum: values } = property as { type?: string | string[]; enum?: unknown[] };
  if (values) return values.includes(null);
  return type === undefined || [type].flat().includes('null');
}

import type { JsonSchema } from '../../operations/schema.js';

/**
 * Arguments without those that are null where the schema has them optional, of another type and without a default. Some
 * clients rewrite such arguments as nullable for their models (LlamaIndex: `anyOf: [..., {type: null}], default: null`),
 * and send what the model fills in. Other arguments stay as they are.
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

/** Does null stay? Unless the property has no default, and a plain type or enum that excludes null. */
function keepsNull(property: JsonSchema | boolean): boolean {
  if (typeof property === 'boolean' || 'default' in property) return true;
  const { type, enum: values } = property as { type?: string | string[]; enum?: unknown[] };
  if (values) return values.includes(null);
  return type === undefined || [type].flat().includes('null');
}

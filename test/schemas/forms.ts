/** Forms in listed schemas for which some clients refuse all tools of a server. */
import { isObject } from '../../operations/json/is-object.js';
import { subschemasOf } from '../../operations/json-schema/subschemas.js';
import type { JsonSchema } from '../../operations/tool/schema.js';

/** Keywords under which clients know booleans. */
const BOOLEAN_KEYWORDS = ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'];

/** A line for each such form: its path, and what it is. */
export function refusedForms(root: JsonSchema): string[] {
  const found: string[] = [];
  const visit = (schema: unknown, path: string, keyword: string) => {
    const note = (what: string) => void found.push(`${path}: ${what}`);
    if (typeof schema === 'boolean' && !BOOLEAN_KEYWORDS.includes(keyword)) note(`is ${schema}`);
    if (!isObject(schema)) return;
    const { type, items, enum: values, $ref: reference } = schema;
    if (Array.isArray(type)) note('has a list of types');
    if (Array.isArray(items)) note('has a list in items');
    if (Array.isArray(values) && values.length === 0) note('has an empty enum');
    for (const key of ['$id', 'id', 'nullable']) if (key in schema) note(`has ${key}`);
    if (typeof reference === 'string' && !leadsToDefinition(root, reference)) note(`has $ref ${reference}`);
    for (const one of subschemasOf(schema)) visit(one.schema, `${path}/${one.path.join('/')}`, one.keyword);
  };
  visit(root, '#', '');
  return found;
}

function leadsToDefinition(root: JsonSchema, reference: string): boolean {
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  if (keyword === undefined) return reference === '#';
  const key = decodeURIComponent(name!).replaceAll('~1', '/').replaceAll('~0', '~');
  return Object.hasOwn(root[keyword] ?? {}, key);
}

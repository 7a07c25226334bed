/** Types of JSON values, merged over examples. Never has values, which may be secret, or keys that are data, such as IDs. */
import { isObject } from '../../operations/json/is-object.js';
import { isBuiltIn } from '../../pipelines/names.js';
import type { JsonSchema } from '../../operations/tool/schema.js';

/** Deeper values have no types. */
const MAX_DEPTH = 6;
/** A map with more keys than this, over all examples, has data as keys. */
const MAX_FIELDS = 100;
/** Items of a list that are examined. */
const MAX_ITEMS = 50;
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** Keys that are IDs, numbers or digests: four digits, or a long run of hexadecimal ones. */
const DATA_NAME = /(\d.*){4}|[0-9a-f]{16}/i;

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type JsonType = (typeof TYPES)[number];

export interface Shape {
  /** Number of values. */
  examples: number;
  types: Set<JsonType>;
  /** Number of objects among them. */
  objects: number;
  fields: Map<string, Shape>;
  items?: Shape;
}

export function emptyShape(): Shape {
  return { examples: 0, types: new Set(), objects: 0, fields: new Map() };
}

export function addExample(shape: Shape, value: unknown, depth = 0): void {
  shape.examples += 1;
  if (depth > MAX_DEPTH) return;
  shape.types.add(typeOf(value));
  if (Array.isArray(value)) {
    shape.items ??= emptyShape();
    for (const item of value.slice(0, MAX_ITEMS)) addExample(shape.items, item, depth + 1);
  } else if (isObject(value)) {
    shape.objects += 1;
    for (const [name, inner] of Object.entries(value)) {
      const field = shape.fields.get(name) ?? emptyShape();
      shape.fields.set(name, field);
      addExample(field, inner, depth + 1);
    }
  }
}

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as JsonType;
}

/** Whether every value is an object with fields. */
export function isRecord(shape: Shape): boolean {
  return shape.types.size === 1 && shape.types.has('object') && shape.fields.size > 0 && !hasDataKeys(shape);
}

/** Whether the keys of the objects are data, not names. */
function hasDataKeys({ fields, objects }: Shape): boolean {
  const names = [...fields.keys()];
  if (fields.size > MAX_FIELDS) return true;
  if (names.some((name) => !FIELD_NAME.test(name) || DATA_NAME.test(name) || isBuiltIn(name))) return true;
  // No two of them share a key.
  return objects > 1 && fields.size > 1 && [...fields.values()].every(({ examples }) => examples === 1);
}

/** The types of a shape's values, in the usual order. A number includes integers. */
export function typesOf({ types }: Shape): JsonType[] {
  return TYPES.filter((type) => types.has(type) && !(type === 'integer' && types.has('number')));
}

/** The names of fields that all objects have. */
export function commonFields({ fields, objects }: Shape): string[] {
  return [...fields].filter(([, { examples }]) => examples === objects).map(([name]) => name);
}

/** The JSON Schema of a shape. @param isStrict whether objects require the fields that all examples have */
export function schemaOf(shape: Shape, isStrict: boolean): JsonSchema {
  const types = typesOf(shape);
  // Only null values: nothing is known.
  if (types.every((type) => type === 'null')) return {};
  return {
    type: types.length === 1 ? types[0]! : types,
    ...(types.includes('array') ? itemsOf(shape, isStrict) : {}),
    ...(types.includes('object') ? fieldsOf(shape, isStrict) : {}),
  };
}

function itemsOf({ items }: Shape, isStrict: boolean): JsonSchema {
  const schema = items ? schemaOf(items, isStrict) : {};
  return Object.keys(schema).length > 0 ? { items: schema } : {};
}

function fieldsOf(shape: Shape, isStrict: boolean): JsonSchema {
  const { fields } = shape;
  if (fields.size === 0) return {};
  if (hasDataKeys(shape)) {
    const values = schemaOf(mergedShape([...fields.values()]), isStrict);
    return { additionalProperties: Object.keys(values).length > 0 ? values : true };
  }
  const required = commonFields(shape);
  return {
    properties: Object.fromEntries([...fields].map(([name, field]) => [name, schemaOf(field, isStrict)])),
    ...(isStrict && required.length > 0 ? { required } : {}),
  };
}

function mergedShape(shapes: readonly Shape[]): Shape {
  const merged = emptyShape();
  for (const { examples, types, objects, fields, items } of shapes) {
    merged.examples += examples;
    merged.objects += objects;
    for (const type of types) merged.types.add(type);
    if (items) merged.items = mergedShape([...(merged.items ? [merged.items] : []), items]);
    for (const [name, field] of fields) {
      const known = merged.fields.get(name);
      merged.fields.set(name, known ? mergedShape([known, field]) : field);
    }
  }
  return merged;
}

/** A shape in a few words, for comments: `string`, `{ id: string, tags: list }`. */
export function shapeText(shape: Shape): string {
  if (isRecord(shape))
    return `{ ${[...shape.fields].map(([name, field]) => `${name}: ${typeText(field)}`).join(', ')} }`;
  return typeText(shape);
}

function typeText(shape: Shape): string {
  const types = typesOf(shape).map((type) => ({ array: 'list', object: 'map' })[type as string] ?? type);
  return types.join(' or ') || 'unknown';
}

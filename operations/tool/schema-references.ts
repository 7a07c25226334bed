/** `$ref`s within a JSON Schema document. */
import { attempt } from '../errors.js';
import { isObject } from '../json/is-object.js';
import {
  DATA_KEYWORDS,
  IN_PLACE_KEYWORDS,
  MAP_KEYWORDS,
  mapSubschemas,
  subschemasOf,
} from '../json-schema/subschemas.js';
import type { JsonSchema } from './schema.js';

/** JSON Pointers of a schema's recursive `$ref`s. Clients and generators that expand references can't use such a schema. */
export function recursiveReferences(schema: JsonSchema): string[] {
  const found = new Set<string>();
  const done = new Set<unknown>();
  const visit = (at: unknown, pointer: string, within: ReadonlySet<unknown>, isMap = false): void => {
    if (typeof at !== 'object' || at === null || done.has(at)) return;
    const inside = new Set([...within, at]);
    for (const [key, value] of Object.entries(at)) {
      if (!isMap && DATA_KEYWORDS.has(key)) continue;
      const here = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (isMap || typeof value !== 'string') visit(value, here, inside, !isMap && MAP_KEYWORDS.has(key));
      else if (key === '$ref' || key === '$dynamicRef') {
        const target = resolveReference(schema, value);
        if (inside.has(target)) found.add(here);
        else visit(target, pointerOf(value), inside);
      }
    }
    done.add(at);
  };
  visit(schema, '', new Set());
  return [...found];
}

/** Which of a part's schemas to visit: all, or only those that apply to the same value. */
interface Visits {
  isInPlace: boolean;
  done?: Set<unknown>;
}

/** A part of a document, its subschemas, and the targets of references, each once. */
export function* schemasIn(
  document: JsonSchema,
  part: unknown,
  { isInPlace, done = new Set() }: Visits,
): Generator<JsonSchema> {
  if (!isObject(part) || done.has(part)) return;
  done.add(part);
  yield part;
  const references = [part['$ref'], part['$dynamicRef']].filter((one) => typeof one === 'string');
  const subschemas = subschemasOf(part).filter(({ keyword }) => !isInPlace || IN_PLACE_KEYWORDS.has(keyword));
  for (const next of [
    ...references.map((reference) => resolveReference(document, reference)),
    ...subschemas.map(({ schema }) => schema),
  ])
    yield* schemasIn(document, next, { isInPlace, done });
}

/** Names that a schema or an in-place subschema declares or requires. */
export function propertyNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { properties, required } of schemasIn(schema, schema, { isInPlace: true })) {
    for (const name of Object.keys(properties ?? {})) names.add(name);
    if (Array.isArray(required)) for (const name of required) names.add(String(name));
  }
  return names;
}

/** Rewrites local references for a schema's new place in a document. @param place e.g. `#/$defs/a` */
export function rebaseReferences(place: string, schema: JsonSchema): JsonSchema {
  const rebased = (one: unknown) => (isObject(one) ? rebaseReferences(place, one) : one);
  const { $ref, ...rest } = mapSubschemas(schema, rebased);
  if ($ref === undefined) return rest;
  return { $ref: typeof $ref === 'string' && isLocal($ref) ? place + $ref.slice(1) : $ref, ...rest };
}

/** Undefined for a reference to another document, or to a missing part. */
export function resolveReference(schema: JsonSchema, reference: string): unknown {
  if (!isLocal(reference))
    return reference.startsWith('#') ? anchored(schema, reference.slice(1)) : undefined;
  return (
    reference
      .slice(1)
      .split('/')
      .slice(1)
      // A `%` may begin no escape.
      .map((part) => attempt(() => decodeURIComponent(part)) ?? part)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (at, key) =>
          typeof at === 'object' && at !== null && Object.hasOwn(at, key)
            ? (at as JsonSchema)[key]
            : undefined,
        schema,
      )
  );
}

/** The subschema with this `$anchor` or `$dynamicAnchor`. */
function anchored(at: unknown, name: string): unknown {
  if (typeof at !== 'object' || at === null) return undefined;
  const { $anchor, $dynamicAnchor } = at as Record<string, unknown>;
  if ($anchor === name || $dynamicAnchor === name) return at;
  for (const part of Object.values(at)) {
    const found = anchored(part, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isLocal(reference: string): boolean {
  return /^#(\/|$)/.test(reference);
}

function pointerOf(reference: string): string {
  return isLocal(reference) ? reference.slice(1) : reference;
}

/** Keywords beside which `additionalProperties` would refuse properties of other schemas. */
const COMPOSING_KEYWORDS = ['allOf', '$ref', '$dynamicRef'];

/** Refuses unnamed properties, so no misspelt argument is ignored, unless the author has decided or a subschema names more. */
export function closed(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  const isDecided = [
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
    ...COMPOSING_KEYWORDS,
  ].some((keyword) => keyword in schema);
  if (isDecided || !isObject(properties)) return schema;
  const isNamedElsewhere = [...propertyNames(schema)].some((name) => !Object.hasOwn(properties, name));
  return isNamedElsewhere ? schema : { ...schema, additionalProperties: false };
}

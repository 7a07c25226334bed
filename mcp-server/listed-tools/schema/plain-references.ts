/** References that clients can follow. Most know only `#/$defs/name`, and a rewritten schema has other paths than its author's. */
import { isObject } from '../../../operations/json/is-object.js';
import { mapSubschemas } from '../../../operations/json-schema/subschemas.js';
import { referenceTarget, type JsonSchema } from '../../../operations/tool/schema.js';

/** The dialect of listed schemas, also without `$schema` (specs: 2026-07-28 basic, "JSON Schema Usage"). */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Copies the targets of other references to `$defs`. Drops `$id`, because clients that cache schemas by it would mix up tools.
 * Keeps each `$anchor` once, and `$schema` where it names the dialect.
 */
export function withPlainReferences(root: JsonSchema): JsonSchema {
  const definitions = (root['$defs'] ?? {}) as JsonSchema;
  const pointers = new Map<unknown, string>([
    [root, '#'],
    ...['$defs', 'definitions'].flatMap((keyword) =>
      Object.entries((root[keyword] ?? {}) as JsonSchema).map(([name, schema]): [unknown, string] => {
        const pointer = `#/${keyword}/${escaped(name)}`;
        return [isObject(schema) ? schema : pointer, pointer];
      }),
    ),
  ]);
  const added: JsonSchema = {};
  const anchors = new Set<unknown>();
  const pointerTo = (target: unknown, reference: unknown): string => {
    // Booleans have no identity.
    const key = isObject(target) ? target : reference;
    const known = pointers.get(key);
    if (known !== undefined) return known;
    const name = freeName({ ...definitions, ...added });
    pointers.set(key, `#/$defs/${name}`);
    // Reserves the name: the target may refer to itself.
    added[name] = true;
    added[name] = visit(target);
    return `#/$defs/${name}`;
  };
  const visit = (schema: unknown): unknown => {
    if (!isObject(schema)) return schema;
    const { $schema, $id: _id, id: _older, $anchor, ...rest } = mapSubschemas(schema, visit);
    const isNew = $anchor !== undefined && !anchors.has($anchor);
    anchors.add($anchor);
    const target = typeof rest['$ref'] === 'string' ? referenceTarget(root, schema) : undefined;
    return {
      ...($schema === DIALECT ? { $schema } : {}),
      ...(isNew ? { $anchor } : {}),
      ...rest,
      ...(target === undefined ? {} : { $ref: pointerTo(target, rest['$ref']) }),
    };
  };
  const copy = visit(root) as JsonSchema;
  if (Object.keys(added).length === 0) return copy;
  return { ...copy, $defs: { ...(copy['$defs'] as JsonSchema | undefined), ...added } };
}

function freeName(taken: JsonSchema): string {
  for (let number = 1; ; number += 1) {
    const name = `schema${number}`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}

/** A name as part of a JSON Pointer in a URI fragment (RFC 6901, section 6). */
function escaped(name: string): string {
  return encodeURI(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

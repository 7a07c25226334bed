/** Inputs and arguments of a drafted tool, from the arguments of runs, and the schema of its result. */
import type { JsonSchema } from '../../operations/tool/schema.js';
import { inputNameFor } from './names.js';
import type { SeenValues } from './seen-values.js';
import { commonFields, emptyShape, isRecord, schemaOf, typesOf, type Shape } from './shape.js';

export interface Inputs {
  /** Properties of the schema. */
  properties: Record<string, JsonSchema>;
  required: string[];
  /** Undefined: one object with all inputs. */
  args?: string[] | Record<string, string>;
}

/** Name of a positional argument, by its place and the shape of its values. */
export type NameArgument = (place: number, shape: Shape | undefined) => string;

export const numberedArgument: NameArgument = (place) => `arg${place + 1}`;

/** Inputs for the arguments of a workflow, update or signal: the fields of a single object, else arg1 and so on. */
export function inputsFor({ shapes, least, most }: SeenValues, nameOf = numberedArgument): Inputs {
  const [first] = shapes;
  if (least === 1 && most === 1 && first && isRecord(first)) return fieldsFor(first);
  const names = Array.from({ length: most }, (_none, place) => nameOf(place, shapes[place]));
  return {
    properties: Object.fromEntries(
      names.map((name, place) => [name, schemaOf(shapes[place] ?? emptyShape(), true)]),
    ),
    required: names.slice(0, Number.isFinite(least) ? least : 0),
    args: names,
  };
}

function fieldsFor(shape: Shape): Inputs {
  const names = new Map<string, string>();
  for (const field of shape.fields.keys()) names.set(field, inputNameFor(field, new Set(names.values())));
  const isRenamed = [...names].some(([field, name]) => field !== name);
  return {
    properties: Object.fromEntries(
      [...shape.fields].map(([field, inner]) => [names.get(field)!, schemaOf(inner, true)]),
    ),
    required: commonFields(shape).map((field) => names.get(field)!),
    ...(isRenamed ? { args: Object.fromEntries(names) } : {}),
  };
}

/** Schema of results. Clients refuse a result that it excludes, so it requires nothing, and is left out if results differ too much. */
export function outputFor({ shapes: [shape] }: SeenValues): JsonSchema | 'mixed' | undefined {
  if (!shape) return undefined;
  const types = typesOf(shape).filter((type) => type !== 'null');
  if (types.length === 0) return undefined;
  if (types.length > 1 && types.includes('object')) return 'mixed';
  const schema = schemaOf(shape, false);
  return types[0] === 'object' ? { ...schema, type: 'object' } : schema;
}

/** Inputs that clients can show as a form; undefined if they can't. */
export function asForm({ properties, required, args }: Inputs): Inputs | undefined {
  const flat = Object.entries(properties).map(([name, { type }]) => {
    const types = [type].flat().filter((one) => one !== 'null');
    const isFlat =
      types.length === 1 && ['string', 'number', 'integer', 'boolean'].includes(String(types[0]));
    return isFlat ? ([name, { type: types[0] }] as const) : undefined;
  });
  const fields = flat.filter((one) => one !== undefined);
  if (fields.length !== flat.length || fields.length === 0) return undefined;
  return { properties: Object.fromEntries(fields), required, ...(args ? { args } : {}) };
}

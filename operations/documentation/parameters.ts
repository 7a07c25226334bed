/** A tool's parameters, as its documentation lists them. */
import { isObject } from '../json/is-object.js';
import type { JsonSchema } from '../tool/schema.js';

export interface Parameter {
  name: string;
  /** `string`, `integer or null`, `array of string`, `"red" or "blue"`; undefined if the schema names none. */
  type: string | undefined;
  required: boolean;
  description?: string;
  default?: unknown;
}

/** The properties of an object schema, in order, without ones that accept no value. */
export function parametersOf(schema: JsonSchema): Parameter[] {
  const { properties = {}, required = [] } = schema as { properties?: JsonSchema; required?: string[] };
  return Object.entries(properties).flatMap(([name, property]) => {
    if (property === false) return [];
    const { description, ...rest } = isObject(property) ? property : {};
    return [
      {
        name,
        type: typeOf(property, schema),
        required: required.includes(name),
        ...(typeof description === 'string' ? { description } : {}),
        ...('default' in rest ? { default: rest['default'] } : {}),
      },
    ];
  });
}

export function parametersText(parameters: Parameter[]): string {
  return parameters
    .map(({ name, type = 'any', required, description, ...rest }) => {
      const given = 'default' in rest ? `, default \`${JSON.stringify(rest.default)}\`` : '';
      return `- \`${name}\` (${type}, ${required ? 'required' : 'optional'}${given})${description ? `: ${description}` : ''}`;
    })
    .join('\n');
}

function typeOf(schema: unknown, root: JsonSchema): string | undefined {
  if (!isObject(schema)) return undefined;
  const { type, enum: choices, items, $ref: reference } = schema;
  if (Array.isArray(choices)) return choices.map((one) => JSON.stringify(one)).join(' or ');
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (typeof type === 'string') {
    const ofItems = type === 'array' && typeOf(items, root);
    return ofItems ? `array of ${ofItems}` : type;
  }
  if (Array.isArray(type)) return type.join(' or ');
  if (typeof reference === 'string') {
    const definitions = (root['$defs'] ?? {}) as JsonSchema;
    return typeOf(definitions[reference.replace('#/$defs/', '')], {});
  }
  const sides = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as unknown[] | undefined;
  const types = sides?.map((side) => typeOf(side, root));
  return types?.every((one) => one !== undefined) ? [...new Set(types)].join(' or ') : undefined;
}

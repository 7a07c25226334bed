/**
 * JSON Schema keywords for inputs, outputs and fields, and keys that both pipelines and tools over external workflows have. The set of
 * keywords is closed, so a misspelt one is reported at its place.
 */
import { z } from 'zod';
import { TOOL_NAME } from './names.js';

const MAX_MINUTES = 365 * 24 * 60;

export const text = (expected: string) => z.string({ error: expected }).min(1, expected);

export const flag = z.boolean({ error: 'expected true or false' });

export const minutesUpTo = (most: number) =>
  z
    .number({ error: 'expected minutes above 0' })
    .gt(0, 'expected minutes above 0')
    .max(most, `expected at most ${most} minutes`);
export const minutes = minutesUpTo(MAX_MINUTES);

export const toolName = z
  .string({ error: 'expected the name of a tool' })
  .regex(
    TOOL_NAME,
    'expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning',
  )
  .optional()
  .describe("Name of the tool. Default: the file's name, with _ for each -.");

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
const TYPE = 'expected string, number, integer, boolean, array, object or null';
const typeName = z.enum(TYPES, { error: TYPE });
const typeNames = z
  .array(typeName, { error: 'expected a type or a list of types' })
  .min(1, 'expected at least one type');
const anyText = z.string({ error: 'expected text' });
const count = z.int({ error: 'expected a whole number from 0' }).min(0, 'expected a whole number from 0');
const number = z.number({ error: 'expected a number' });
// Any YAML value: the reader has refused what JSON can't hold.
const anything = z.unknown();
const values = z.array(anything, { error: 'expected a list of values' });
const names = z.array(anyText, { error: 'expected a list of names' });

const schema: z.ZodType<boolean | Record<string, unknown>> = z.lazy(() =>
  z.union([z.boolean(), jsonSchema], { error: 'expected a schema, such as `{ type: string }`' }),
);
const schemas = z
  .array(schema, { error: 'expected a list of schemas' })
  .min(1, 'expected at least one schema');
const schemasByName = z.record(z.string(), schema, { error: 'expected a map of names and their schemas' });

const keywords = {
  type: z.union([typeName, typeNames], { error: TYPE }).describe('Type of the value.'),
  title: anyText.describe('Name for people.'),
  description: anyText.describe('What it means, for people and models.'),
  default: anything.describe('The value when a call has none.'),
  examples: values.describe('Example values.'),
  deprecated: flag.describe('Should no longer be used.'),
  enum: values.min(1, 'expected at least one value').describe('The allowed values: a choice.'),
  enumNames: names.describe('Names for people of the values in `enum`.'),
  const: anything.describe('The only allowed value.'),
  minLength: count.describe('Minimum length of a text, in characters.'),
  maxLength: count.describe('Maximum length of a text, in characters.'),
  pattern: anyText.describe(
    'Regular expression that a text must match somewhere, without look-aheads, look-behinds and back-references.',
  ),
  format: anyText.describe('Form of a text, such as `date`, `email` or `uri`.'),
  minimum: number.describe('Smallest number.'),
  maximum: number.describe('Largest number.'),
  exclusiveMinimum: number.describe('The number must be above it.'),
  exclusiveMaximum: number.describe('The number must be below it.'),
  multipleOf: z
    .number({ error: 'expected a number above 0' })
    .gt(0, 'expected a number above 0')
    .describe('The number must be a multiple of it.'),
  items: schema.describe("Schema of a list's items."),
  prefixItems: schemas.describe("Schemas of a list's first items."),
  contains: schema.describe('Schema that an item of a list must fit.'),
  minContains: count.describe('Minimum number of items that fit `contains`.'),
  maxContains: count.describe('Maximum number of items that fit `contains`.'),
  minItems: count.describe('Minimum number of items of a list.'),
  maxItems: count.describe('Maximum number of items of a list.'),
  uniqueItems: flag.describe('Whether the items of a list must be unique.'),
  properties: schemasByName.describe('Values of an object: name and schema.'),
  required: names.describe('Names in `properties` that must be given.'),
  additionalProperties: schema.describe('Schema of values that `properties` does not name.'),
  patternProperties: schemasByName.describe('Schemas of values whose names match a pattern.'),
  propertyNames: schema.describe("Schema of an object's names."),
  minProperties: count.describe('Minimum number of values of an object.'),
  maxProperties: count.describe('Maximum number of values of an object.'),
  dependentRequired: z
    .record(z.string(), names, { error: 'expected a map of names and the names that they require' })
    .describe('Names that must be given when another one is given.'),
  dependentSchemas: schemasByName.describe('Schemas of the object when a name is given.'),
  allOf: schemas.describe('The value fits all of them.'),
  anyOf: schemas.describe('The value fits at least one of them.'),
  oneOf: schemas.describe('The value fits exactly one of them.'),
  not: schema.describe('The value does not fit it.'),
  if: schema.describe('Decides between `then` and `else`.'),
  then: schema.describe('The schema when `if` fits.'),
  else: schema.describe('The schema when `if` does not fit.'),
};

export const jsonSchema = z
  .strictObject(keywords, { error: 'expected a schema, such as `{ type: string }`' })
  .partial()
  .meta({ id: 'jsonSchema' });

/** JSON Schema keywords for inputs, outputs and fields. The set is closed, so a misspelt keyword is reported at its place. */
import { z } from 'zod';

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;

const typeName = z.enum(TYPES, {
  error: 'expected string, number, integer, boolean, array, object or null',
});
const text = z.string({ error: 'expected text' });
const flag = z.boolean({ error: 'expected true or false' });
const count = z.int({ error: 'expected a whole number from 0' }).min(0, 'expected a whole number from 0');
const number = z.number({ error: 'expected a number' });
// Any YAML value: the reader has refused what JSON can't hold.
const anything = z.unknown();
const values = z.array(anything, { error: 'expected a list of values' });
const names = z.array(text, { error: 'expected a list of names' });

const schema: z.ZodType<boolean | Record<string, unknown>> = z.lazy(() =>
  z.union([z.boolean(), jsonSchema], { error: 'expected a schema, such as `{ type: string }`' }),
);
const schemas = z
  .array(schema, { error: 'expected a list of schemas' })
  .min(1, 'expected at least one schema');
const schemasByName = z.record(z.string(), schema, { error: 'expected a map of names and their schemas' });

const keywords = {
  type: z
    .union(
      [
        typeName,
        z
          .array(typeName, { error: 'expected a type or a list of types' })
          .min(1, 'expected at least one type'),
      ],
      {
        error: 'expected string, number, integer, boolean, array, object or null',
      },
    )
    .meta({ description: 'Type of the value.' }),
  title: text.meta({ description: 'Name for people.' }),
  description: text.meta({ description: 'What it means, for people and models.' }),
  default: anything.meta({ description: 'The value when a call has none.' }),
  examples: values.meta({ description: 'Example values.' }),
  deprecated: flag.meta({ description: 'Should no longer be used.' }),
  enum: values.min(1, 'expected at least one value').meta({ description: 'The allowed values: a choice.' }),
  enumNames: names.meta({ description: 'Names for people of the values in `enum`.' }),
  const: anything.meta({ description: 'The only allowed value.' }),
  minLength: count.meta({ description: 'Minimum length of a text, in characters.' }),
  maxLength: count.meta({ description: 'Maximum length of a text, in characters.' }),
  pattern: text.meta({
    description:
      'Regular expression that a text must match somewhere, without look-aheads, look-behinds and back-references.',
  }),
  format: text.meta({ description: 'Form of a text, such as `date`, `email` or `uri`.' }),
  minimum: number.meta({ description: 'Smallest number.' }),
  maximum: number.meta({ description: 'Largest number.' }),
  exclusiveMinimum: number.meta({ description: 'The number must be above it.' }),
  exclusiveMaximum: number.meta({ description: 'The number must be below it.' }),
  multipleOf: z
    .number({ error: 'expected a number above 0' })
    .gt(0, 'expected a number above 0')
    .meta({ description: 'The number must be a multiple of it.' }),
  items: schema.meta({ description: "Schema of a list's items." }),
  prefixItems: schemas.meta({ description: "Schemas of a list's first items." }),
  contains: schema.meta({ description: 'Schema that an item of a list must fit.' }),
  minContains: count.meta({ description: 'Minimum number of items that fit `contains`.' }),
  maxContains: count.meta({ description: 'Maximum number of items that fit `contains`.' }),
  minItems: count.meta({ description: 'Minimum number of items of a list.' }),
  maxItems: count.meta({ description: 'Maximum number of items of a list.' }),
  uniqueItems: flag.meta({ description: 'Whether the items of a list must be unique.' }),
  properties: schemasByName.meta({ description: 'Values of an object: name and schema.' }),
  required: names.meta({ description: 'Names in `properties` that must be given.' }),
  additionalProperties: schema.meta({ description: 'Schema of values that `properties` does not name.' }),
  patternProperties: schemasByName.meta({ description: 'Schemas of values whose names match a pattern.' }),
  propertyNames: schema.meta({ description: "Schema of an object's names." }),
  minProperties: count.meta({ description: 'Minimum number of values of an object.' }),
  maxProperties: count.meta({ description: 'Maximum number of values of an object.' }),
  dependentRequired: z
    .record(z.string(), names, { error: 'expected a map of names and the names that they require' })
    .meta({ description: 'Names that must be given when another one is given.' }),
  dependentSchemas: schemasByName.meta({ description: 'Schemas of the object when a name is given.' }),
  allOf: schemas.meta({ description: 'The value fits all of them.' }),
  anyOf: schemas.meta({ description: 'The value fits at least one of them.' }),
  oneOf: schemas.meta({ description: 'The value fits exactly one of them.' }),
  not: schema.meta({ description: 'The value does not fit it.' }),
  if: schema.meta({ description: 'Decides between `then` and `else`.' }),
  then: schema.meta({ description: 'The schema when `if` fits.' }),
  else: schema.meta({ description: 'The schema when `if` does not fit.' }),
};

export const jsonSchema = z
  .strictObject(keywords, { error: 'expected a schema, such as `{ type: string }`' })
  .partial()
  .meta({ id: 'jsonSchema' });

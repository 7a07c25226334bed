/**
 * Checks a schema once, as its author wrote it, so other code can rely on its form. The form is JSON Schema's own metaschema (2020-12;
 * core, section 8, and validation, sections 6 to 9).
 */
import { isObject } from '../json/is-object.js';
import { Validator } from './index.js';
import { IN_PLACE_KEYWORDS, LIST_KEYWORDS, MAP_KEYWORDS, subschemasOf } from './subschemas.js';

type JsonSchema = Record<string, unknown>;

export interface SchemaProblem {
  path: string[];
  expected: string;
  got: unknown;
}

const MAX_LEVELS = 100;
const MAX_CHARACTERS = 1024 * 1024;
/** Maximum number of schemas for one value, counting each reference to a schema again. */
const MAX_APPLIED = 10_000;

/** Copies a schema, so the author can't change it later. @throws Error for a schema that isn't JSON, too large or nested too deeply */
export function copySchema(schema: JsonSchema): JsonSchema {
  const text = toText(schema);
  if (text.length > MAX_CHARACTERS)
    throw new Error(`expected at most ${MAX_CHARACTERS} characters of JSON; got ${text.length}`);
  const copy = JSON.parse(text) as unknown;
  if (!isObject(copy)) throw new Error('expected a JSON Schema as an object; got another value');
  if (isDeeper(copy, MAX_LEVELS))
    throw new Error(`expected at most ${MAX_LEVELS} levels of nesting; got more`);
  return copy;
}

function toText(schema: JsonSchema): string {
  try {
    return JSON.stringify(schema) ?? 'null';
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    throw new Error(`expected a schema that JSON can hold; ${reason}`, { cause: error });
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** All problems of a copied schema ({@link copySchema}); empty if you can use it. */
export function problemsOfSchema(schema: JsonSchema): SchemaProblem[] {
  const formed = new Set<unknown>();
  const problems = formProblems(schema, [], formed);
  if (problems.length > 0) return problems;
  let validator: Validator;
  try {
    validator = new Validator(schema);
  } catch (error) {
    const expected = 'a URI in each $ref, and a different one in each $id';
    return [{ path: [], expected, got: (error as Error).message }];
  }
  const { found, places } = readReferences(schema, validator, formed);
  return found.length > 0 ? found : endlessProblems(places, validator);
}

type Form = [expected: string, fits: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === 'string';
const isAnchor = (value: unknown) => isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value);
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const TYPES: unknown[] = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];
const isTypes = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => TYPES.includes(one));
const isMap = (fits: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(fits);

const TEXT: Form = ['text', isText];
const FLAG: Form = ['true or false', (value) => typeof value === 'boolean'];
const NUMBER: Form = ['a number', Number.isFinite];
const COUNT: Form = ['a whole number from 0', isCount];
const LIST: Form = ['a list of values', Array.isArray];
const SCHEMAS: Form = [
  'a list with at least one schema',
  (value) => Array.isArray(value) && value.length > 0,
];

/** The value that each keyword takes. Subschemas are checked separately. */
const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...all(TEXT, '$id', '$ref', '$schema', '$comment'),
  ...all(['a name of letters, digits, -, _ and .', isAnchor], '$anchor', '$dynamicAnchor'),
  ['$dynamicRef', ['$ref: a dynamic reference is not supported', () => false]],
  ...all(TEXT, 'title', 'description', 'pattern', 'format', 'contentEncoding', 'contentMediaType'),
  ...all(FLAG, 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...all(COUNT, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'),
  ...all(COUNT, 'minProperties', 'maxProperties'),
  ...all(NUMBER, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ['multipleOf', ['a number above 0', (value) => Number.isFinite(value) && (value as number) > 0]],
  ['type', [`${TYPES.join(', ')}, or a list of these`, (value) => TYPES.includes(value) || isTypes(value)]],
  ...all(LIST, 'enum', 'examples'),
  ['required', ['a list of names', isTextList]],
  ['dependentRequired', ['a map of names to lists of names', isMap(isTextList)]],
  ...all(SCHEMAS, ...LIST_KEYWORDS),
  ['items', ['a schema', (value) => !Array.isArray(value) || value.length > 0]],
  ...all(['a map of names to schemas', isObject], ...MAP_KEYWORDS),
]);

function all(form: Form, ...keywords: string[]): [string, Form][] {
  return keywords.map((keyword) => [keyword, form]);
}

/** @param formed collects the checked schemas */
function formProblems(schema: unknown, path: string[], formed: Set<unknown>): SchemaProblem[] {
  if (typeof schema === 'boolean') return [];
  if (!isObject(schema)) return [{ path, expected: 'a schema: an object, true or false', got: schema }];
  if (formed.has(schema)) return [];
  formed.add(schema);
  const wrong = Object.entries(schema).flatMap(([keyword, value]) => {
    const form = FORMS.get(keyword);
    return form && !form[1](value) ? [{ path: [...path, keyword], expected: form[0], got: value }] : [];
  });
  const wrongKeywords = new Set(wrong.map((problem) => problem.path.at(-1)));
  const within = subschemasOf(schema)
    .filter(({ keyword }) => !wrongKeywords.has(keyword))
    .flatMap((one) => formProblems(one.schema, [...path, ...one.path], formed));
  return [...wrong, ...within];
}

/** Follows each `$ref`. @returns references that lead to no schema, and each schema's path */
function readReferences(root: JsonSchema, validator: Validator, formed: Set<unknown>) {
  const found: SchemaProblem[] = [];
  const places = new Map<unknown, string[]>();
  const visit = (schema: unknown, path: string[]): void => {
    if (!isObject(schema) || places.has(schema)) return;
    places.set(schema, path);
    for (const one of subschemasOf(schema)) visit(one.schema, [...path, ...one.path]);
    if (typeof schema['$ref'] !== 'string') return;
    const place = [...path, '$ref'];
    const target = validator.targetOf(schema);
    // A target under an unknown keyword has not been checked yet.
    const problems =
      target === undefined
        ? [
            {
              path: place,
              expected: 'a reference within the schema, such as #/$defs/name',
              got: schema['$ref'],
            },
          ]
        : formProblems(target, place, formed);
    if (problems.length > 0) found.push(...problems);
    else visit(target, place);
  };
  visit(root, []);
  return { found, places };
}

/** Finds schemas that would take forever to check against. */
function endlessProblems(places: ReadonlyMap<unknown, string[]>, validator: Validator): SchemaProblem[] {
  const counts = new Map<unknown, number>();
  const count = (schema: unknown): number => {
    if (!isObject(schema)) return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    // While counting: a part that leads back here never ends.
    counts.set(schema, Infinity);
    const inPlace = subschemasOf(schema).filter(({ keyword }) => IN_PLACE_KEYWORDS.has(keyword));
    const parts = inPlace.map((one) => one.schema);
    if (typeof schema['$ref'] === 'string') parts.push(validator.targetOf(schema));
    const sum = parts.reduce<number>((before, part) => before + count(part), 1);
    counts.set(schema, sum);
    return sum;
  };
  for (const [schema, path] of places) {
    const applied = count(schema);
    if (applied <= MAX_APPLIED) continue;
    const expected =
      applied === Infinity
        ? 'no reference back to the schema itself, except inside its properties and items'
        : `at most ${MAX_APPLIED} schemas for one value, with those behind references`;
    return [{ path, expected, got: schema }];
  }
  return [];
}

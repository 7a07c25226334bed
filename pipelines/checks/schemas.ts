/** Checks of the schemas of inputs, outputs and fields: names, defaults, and keywords that depend on each other. */
import { isObject } from '../../operations/json/is-object.js';
import { subschemasOf } from '../../operations/json-schema/subschemas.js';
import { compilePattern } from '../../operations/patterns/index.js';
import { assertFlat, check } from '../../operations/tool/schema.js';
import { RESERVED_ARGUMENTS } from '../../operations/tool/index.js';
import { approvalVariable, inputVariable, NAME } from '../names.js';
import { didYouMean } from '../../operations/json/near-names.js';
import type { KeyPath, Report } from '../yaml/problems.js';
import { at, entriesOf, itemsOf, textsOf } from '../values.js';

export function checkInputs(file: unknown, report: Report): void {
  const schema = at(file, 'inputs');
  checkObjectSchema(schema, ['inputs'], inputVariable, report);
  for (const reserved of RESERVED_ARGUMENTS) {
    if (at(at(schema, 'properties'), reserved) !== undefined)
      report(
        ['inputs', 'properties', reserved],
        "the name is reserved for every tool's calls; choose another",
        'key',
      );
  }
}

/** Checks an approval's `fields`, which clients show as a form. */
export function checkFields(fields: unknown, path: KeyPath, report: Report): void {
  if (!isObject(fields)) return;
  if (at(fields, 'properties') === undefined)
    report([...path, 'properties'], 'missing; expected the names of the fields and their schemas');
  checkObjectSchema(fields, path, approvalVariable, report);
  for (const [name, property] of entriesOf(at(fields, 'properties'))) {
    try {
      assertFlat({ type: 'object', properties: { [name]: property } }, name);
    } catch {
      report(
        [...path, 'properties', name],
        'expected `type: string`, number, integer or boolean, or `enum`: clients show fields as a form',
      );
    }
  }
}

function checkObjectSchema(
  schema: unknown,
  path: KeyPath,
  variableOf: (name: string) => string,
  report: Report,
): void {
  const type = at(schema, 'type');
  if (typeof type === 'string' && type !== 'object')
    report([...path, 'type'], `expected object; got "${type}"`);
  const properties = at(schema, 'properties');
  const variables = new Map<string, string>();
  for (const [name] of entriesOf(properties)) {
    const place = [...path, 'properties', name];
    if (!NAME.test(name)) {
      report(
        place,
        `expected a name: a letter or _, then letters, digits, _ or -, at most 64 characters; got ${JSON.stringify(name.slice(0, 80))}`,
        'key',
      );
      continue;
    }
    const variable = variableOf(name);
    const other = variables.get(variable);
    if (other !== undefined)
      report(place, `it would be the variable ${variable}, like "${other}"; rename one of them`, 'key');
    else variables.set(variable, name);
  }
  checkSchema(schema, path, report);
}

export function checkSchema(schema: unknown, path: KeyPath, report: Report): void {
  if (!isObject(schema)) return;
  const pattern = at(schema, 'pattern');
  if (typeof pattern === 'string') checkPattern(pattern, [...path, 'pattern'], report, 'value');
  for (const [one] of entriesOf(at(schema, 'patternProperties')))
    checkPattern(one, [...path, 'patternProperties', one], report, 'key');
  checkRequired(schema, path, report);
  checkDefault(schema, path, report);
  checkChoices(schema, path, report);
  checkBounds(schema, path, report);
  for (const { keyword, path: keys, schema: one } of subschemasOf(schema)) {
    const isList = Array.isArray(schema[keyword]);
    const place = keys.map((key, depth) => (isList && depth > 0 ? Number(key) : key));
    checkSchema(one, [...path, ...place], report);
  }
}

function checkPattern(pattern: string, path: KeyPath, report: Report, place: 'key' | 'value'): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    report(path, (error as Error).message, place);
  }
}

/** Reports unknown names in `required`, which would refuse every call. */
function checkRequired(schema: Record<string, unknown>, path: KeyPath, report: Report): void {
  const properties = at(schema, 'properties');
  if (!isObject(properties) || at(schema, 'patternProperties') || at(schema, 'additionalProperties')) return;
  for (const [index, name] of textsOf(at(schema, 'required'))) {
    if (Object.hasOwn(properties, name)) continue;
    report(
      [...path, 'required', index],
      () => `expected a name in \`properties\`; got "${name}"${didYouMean(name, Object.keys(properties))}`,
    );
  }
}

function checkDefault(schema: Record<string, unknown>, path: KeyPath, report: Report): void {
  if (!Object.hasOwn(schema, 'default')) return;
  try {
    const [problem] = check(schema, schema['default'], '');
    if (problem !== undefined) report([...path, 'default'], problem.replace(/^: /, ''));
  } catch {
    // The invalid schema is reported at its own place.
  }
}

function checkChoices(schema: Record<string, unknown>, path: KeyPath, report: Report): void {
  const type = at(schema, 'type');
  const choices: [unknown, KeyPath][] = itemsOf(at(schema, 'enum')).map((choice, index) => [
    choice,
    [...path, 'enum', index],
  ]);
  if (Object.hasOwn(schema, 'const')) choices.push([schema['const'], [...path, 'const']]);
  for (const [choice, place] of type === undefined ? [] : choices) {
    try {
      const [problem] = check({ type }, choice, '');
      if (problem !== undefined)
        report(place, `${problem.replace(/^: /, '')}; the schema's type excludes it`);
    } catch {
      // The invalid type is reported at its own place.
      return;
    }
  }
}

/** Lower and upper bound, and whether a value may equal them. */
const BOUNDS: [lower: string, upper: string, mayBeEqual: boolean][] = [
  ['minimum', 'maximum', true],
  ['exclusiveMinimum', 'maximum', false],
  ['minimum', 'exclusiveMaximum', false],
  ['exclusiveMinimum', 'exclusiveMaximum', false],
  ['minLength', 'maxLength', true],
  ['minItems', 'maxItems', true],
  ['minProperties', 'maxProperties', true],
];

function checkBounds(schema: Record<string, unknown>, path: KeyPath, report: Report): void {
  for (const [lower, upper, mayBeEqual] of BOUNDS) {
    const [least, most] = [at(schema, lower), at(schema, upper)];
    if (typeof least !== 'number' || typeof most !== 'number') continue;
    if (least > most || (least === most && !mayBeEqual))
      report(
        [...path, lower],
        `expected ${mayBeEqual ? 'at most' : 'less than'} \`${upper}\`, ${most}; got ${least}: no value satisfies both`,
      );
  }
}

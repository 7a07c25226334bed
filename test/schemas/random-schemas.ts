/** Random JSON Schemas (2020-12) as authors, generators and enemies write them. A seed determines them. */
import type { Random } from '../support/random.js';

type Schema = Record<string, unknown>;

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
const NAMES = ['a', 'b', 'c', 'max_rows', '$ref', 'type', 'default', 'toString', '__proto__', 'constructor'];
const ODD_NAMES = [
  ...['', ' ', 'x/y', 'a~b', '%', 'ünï', '-', 'order.id', 'x'.repeat(500), '\u0000', '😀', 'nullable'],
];
const PATTERNS = ['^[a-z]+$', 'x', '^\\d{3}$', '', '(a|b)*c'];
const FORMATS = ['date', 'date-time', 'email', 'uri', 'uuid', 'made-up'];
const LEVELS = 4;

/** The schema of an object, as the arguments or the result of a tool. A part of them can't be used. */
export function randomObjectSchema(random: Random): Schema {
  const schema = { ...ofObject(random, 0), ...combined(random, 0, 0.15), ...named(random) };
  const root = withTargets(random, { ...schema, type: 'object' });
  return random.chance(0.3) ? hostile(random, root) : root;
}

/** A schema of values of any type. */
export function randomSchema(random: Random): Schema {
  return withTargets(random, { allOf: [anySchema(random, 0)], ...named(random) });
}

/** Adds what references in the schema lead to. */
function withTargets(random: Random, schema: Schema): Schema {
  const text = JSON.stringify(schema);
  const target = () => anySchema(random, LEVELS - 1);
  const targets: Record<string, () => Schema> = {
    '#/$defs/a': () => ({ a: target() }),
    '#/$defs/%25': () => ({ '%': target() }),
    '#here': () => ({ anchored: { $anchor: 'here', type: 'string' } }),
    'https://example.org/T0': () => ({ named: { $id: 'https://example.org/T0', type: ['integer', 'null'] } }),
  };
  const used = Object.entries(targets).filter(([reference]) => text.includes(`"$ref":"${reference}"`));
  const definitions = Object.assign({}, ...used.map(([, make]) => make())) as Schema;
  const properties = { c: target(), ...(schema['properties'] as Schema | undefined) };
  return {
    ...schema,
    ...(text.includes('"#/properties/c') ? { properties } : {}),
    ...(text.includes('"#/x-kept') ? { 'x-kept': { type: ['string', 'array'], items: false } } : {}),
    ...(used.length > 0 ? { $defs: definitions } : {}),
  };
}

/** Any JSON value. */
export function randomValue(random: Random, level = 0): unknown {
  return random.weighted<() => unknown>([
    [2, () => random.pick(['', 'x', 'abc', '2026-01-31', 'bc', '😀'])],
    [2, () => random.pick([0, 1, -1, 2.5, 7, 1e21, 100])],
    [1, () => random.chance(0.5)],
    [1, () => null],
    [level < 3 ? 2 : 0, () => times(random, 3, () => randomValue(random, level + 1))],
    [level < 3 ? 2 : 0, () => objectOf(random, 3, () => randomValue(random, level + 1))],
  ])();
}

function anySchema(random: Random, level: number): unknown {
  if (random.chance(0.12)) return random.chance(0.6);
  if (level >= LEVELS) return random.pick([{}, { type: 'string' }, { type: ['integer', 'null'] }]);
  const type = random.chance(0.25)
    ? random.shuffled(TYPES).slice(0, 1 + random.below(3))
    : random.pick(TYPES);
  const typed = random.chance(0.8) ? { type } : {};
  const forTypes = [type].flat().map((one) => ofType(random, one, level));
  return {
    ...typed,
    ...Object.assign({}, ...forTypes),
    ...choices(random),
    ...combined(random, level, 0.1),
    ...(random.chance(0.1) ? { $ref: reference(random) } : {}),
    ...named(random),
  };
}

function ofType(random: Random, type: (typeof TYPES)[number], level: number): Schema {
  switch (type) {
    case 'string':
      return some(random, {
        minLength: () => random.below(4),
        maxLength: () => random.below(9),
        pattern: () => random.pick(PATTERNS),
        format: () => random.pick(FORMATS),
      });
    case 'number':
    case 'integer':
      return some(random, {
        minimum: () => random.pick([0, -5, 1.5, Number.MIN_SAFE_INTEGER]),
        exclusiveMaximum: () => random.pick([10, 1e300]),
        multipleOf: () => random.pick([1, 0.5]),
      });
    case 'array':
      return ofArray(random, level);
    case 'object':
      return ofObject(random, level);
    default:
      return {};
  }
}

function ofArray(random: Random, level: number): Schema {
  const inner = () => anySchema(random, level + 1);
  return some(random, {
    items: () =>
      random.weighted<unknown>([
        [3, inner()],
        [2, false],
        [1, true],
        [1, [inner(), inner()]],
      ]),
    prefixItems: () => [inner(), ...times(random, 2, inner)],
    additionalItems: () => random.pick([true, false, inner()]),
    contains: inner,
    minItems: () => random.below(3),
    maxItems: () => random.below(5),
    uniqueItems: () => random.chance(0.5),
    unevaluatedItems: () => random.pick([true, false, inner()]),
  });
}

function ofObject(random: Random, level: number): Schema {
  const inner = () => anySchema(random, level + 1);
  return some(random, {
    properties: () => mapOf(random, 4, level),
    required: () => times(random, 2, () => random.pick(NAMES)),
    additionalProperties: () => random.pick([true, false, {}, inner()]),
    patternProperties: () => ({ [random.pick(PATTERNS)]: inner() }),
    propertyNames: () => random.pick([true, { type: 'string' }, inner()]),
    unevaluatedProperties: () => random.pick([true, false, inner()]),
    dependentSchemas: () => mapOf(random, 1, level),
    dependentRequired: () => ({ a: ['b'] }),
    minProperties: () => random.below(2),
  });
}

function combined(random: Random, level: number, share: number): Schema {
  const inner = () => anySchema(random, level + 1);
  const several = () => [inner(), ...times(random, 2, inner)];
  return some(
    random,
    { anyOf: several, oneOf: several, allOf: several, not: inner, if: inner, then: inner, else: inner },
    share,
  );
}

function choices(random: Random): Schema {
  return some(
    random,
    {
      enum: () => times(random, 4, () => randomValue(random)),
      const: () => randomValue(random),
      default: () => randomValue(random),
      examples: () => times(random, 2, () => randomValue(random)),
    },
    0.1,
  );
}

function named(random: Random): Schema {
  return some(
    random,
    {
      title: () => random.pick(['A title', '']),
      description: () => random.pick(['One line.', 'Two\nlines, *`|*', '']),
      $schema: () => 'https://json-schema.org/draft/2020-12/schema',
      $comment: () => 'c',
      deprecated: () => true,
      nullable: () => true,
      'x-order': () => ({ type: ['a', 'b'], items: false }),
    },
    0.04,
  );
}

function reference(random: Random): string {
  return random.pick([
    ...['#/$defs/a', '#/$defs/%25', '#here', 'https://example.org/T0', '#/properties/c', '#/x-kept'],
    ...(random.chance(0.1) ? ['#', '#/nope'] : []),
  ]);
}

/** Breaks a schema, or makes it costly. */
function hostile(random: Random, root: Schema): Schema {
  const circular: Schema = { type: 'array' };
  circular['items'] = circular;
  const broken: [weight: number, change: () => Schema][] = [
    [6, () => withBrokenKeyword(random, root)],
    [1, () => ({ ...root, properties: { a: circular } })],
    [1, () => ({ ...root, properties: { a: { const: 10n } } })],
    [1, () => ({ ...root, properties: { a: nested(random.pick([50, 300, 20_000])) } })],
    [1, () => ({ ...root, allOf: [{ $ref: '#' }] })],
    [1, () => ({ ...root, $defs: doubling(40), properties: { a: { $ref: '#/$defs/d0' } } })],
    [1, () => ({ ...root, properties: { a: { type: 'string', minLength: 1e12 } }, required: ['a'] })],
    [1, () => ({ ...root, properties: { a: { type: 'array', minItems: 1e9 } }, required: ['a'] })],
    [1, () => ({ ...root, properties: { a: { enum: Array.from({ length: 5_000 }, (_, at) => at) } } })],
    [
      1,
      () => ({
        ...root,
        properties: { a: { pattern: random.pick(['(?=a)b', '(a+)+$', 'a{99999999}', '[']) } },
      }),
    ],
    [1, () => ({ ...root, properties: { a: { default: new Date(0), pattern: /x/ } } })],
    [
      1,
      () => ({
        ...root,
        $id: 'https://example.org/root',
        id: 'old',
        $anchor: 'top',
        not: { $ref: '#/nope' },
      }),
    ],
    [1, () => ({ ...root, $id: 'https://example.org/root', id: 'old', $anchor: 'top' })],
    [1, () => Object.freeze({ ...root, properties: Object.freeze({ a: Object.freeze({ $ref: '#' }) }) })],
    [1, () => ({ ...root, ...wide(12) })],
  ];
  return random.weighted(broken)();
}

const JUNK = [
  ...[null, 5, -1, 1e300, '', 'any', [], {}, [null], { a: 5 }, true, undefined, [[]], 'x'.repeat(2_000)],
];
const KEYWORDS = (
  'type enum const properties required items prefixItems anyOf allOf not if ' +
  'additionalProperties patternProperties dependentRequired dependentSchemas dependencies ' +
  'minimum maxLength minItems multipleOf pattern format title description examples ' +
  '$ref $id $anchor $defs $dynamicRef $schema uniqueItems contains propertyNames'
).split(' ');

/** One keyword, at the top or in an argument, has another value than it takes. */
function withBrokenKeyword(random: Random, root: Schema): Schema {
  const broken = { [random.pick(KEYWORDS)]: random.pick([...JUNK, '#/%', 'http://[', 'file:///etc/passwd']) };
  if (random.chance(0.3)) return { ...root, ...broken, type: 'object' };
  return { ...root, properties: { [random.pick(NAMES)]: broken } };
}

function nested(levels: number): Schema {
  let schema: Schema = {};
  for (let level = 0; level < levels; level += 1) schema = { properties: { a: schema } };
  return schema;
}

/** Each definition applies the next one twice. */
function doubling(count: number): Schema {
  const definitions: Schema = { [`d${count}`]: {} };
  for (let at = 0; at < count; at += 1) {
    const next = { $ref: `#/$defs/d${at + 1}` };
    definitions[`d${at}`] = { allOf: [next, next] };
  }
  return definitions;
}

/** An object that requires many of itself. */
function wide(count: number): Schema {
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/wide' }]));
  return { $defs: { wide: { type: 'object', properties, required: names } }, properties, required: names };
}

function mapOf(random: Random, most: number, level: number): Schema {
  return objectOf(random, most, () => anySchema(random, level + 1));
}

function objectOf(random: Random, most: number, value: () => unknown): Schema {
  const names = times(random, most, () => random.pick(random.chance(0.9) ? NAMES : ODD_NAMES));
  // Not by assignment, which would set the prototype for `__proto__`.
  return Object.fromEntries(names.map((name) => [name, value()]));
}

function times<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.below(most + 1) }, make);
}

/** Each of the fields with this probability. */
function some(random: Random, fields: Record<string, () => unknown>, share = 0.3): Schema {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (random.chance(share) ? [[name, value()]] : [])),
  );
}

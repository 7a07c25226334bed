/**
 * Validator of JSON Schema 2020-12 that interprets schemas, since Temporal's sandbox allows no generated code. A fork of
 * @cfworker/json-schema's validate() (MIT, Copyright (c) Jeremy Danyow), which can compile `pattern` only with JavaScript's backtracking
 * engine. The library still resolves references and checks formats.
 */
import { deepCompareStrict, dereference, ucs2length } from '@cfworker/json-schema';
import { isObject } from '../json/is-object.js';
import { compilePattern, fitsFormat, type Pattern } from '../patterns/index.js';
import { checkArray } from './arrays.js';
import { checkObject } from './objects.js';
import type { Evaluated, Part, Path, Problem, Run } from './run.js';

export type { Problem } from './run.js';

type JsonSchema = Record<string, unknown>;

/** Resolves references and compiles patterns once, to check any number of values. */
export class Validator {
  readonly #parts: Record<string, unknown>;
  readonly #patterns = new Map<string, Pattern>();
  readonly #tracksEvaluated: boolean;

  constructor(private readonly schema: JsonSchema) {
    this.#parts = dereference(schema);
    this.#tracksEvaluated = Object.values(this.#parts).some(
      (part) =>
        isObject(part) &&
        (part['unevaluatedProperties'] !== undefined || part['unevaluatedItems'] !== undefined),
    );
  }

  /** Compiles a pattern once. @throws UnsupportedPattern */
  pattern(source: string): Pattern {
    let pattern = this.#patterns.get(source);
    if (!pattern) this.#patterns.set(source, (pattern = compilePattern(source)));
    return pattern;
  }

  /** Target of a part's `$ref`; undefined if it leads nowhere. */
  targetOf(part: JsonSchema): unknown {
    return referenceTarget(part, this.#parts);
  }

  /** Empty if the value fits. @throws Error for an unresolvable reference */
  problemsOf(value: unknown): Problem[] {
    const run = new ValueCheck(this.#parts, this.#tracksEvaluated, (source) => this.pattern(source));
    run.visit(value, this.schema, undefined);
    return run.problems;
  }
}

class ValueCheck implements Run {
  problems: Problem[] = [];

  constructor(
    private readonly parts: Record<string, unknown>,
    private readonly tracksEvaluated: boolean,
    readonly pattern: Run['pattern'],
  ) {}

  visit(value: unknown, schema: unknown, path: Path, applied?: Evaluated): boolean {
    if (schema === true) return true;
    const before = this.problems.length;
    if (schema === false) this.fail({ value, schema: {}, path }, 'false');
    if (!isObject(schema)) return this.problems.length === before;
    const part: Part<unknown> = {
      value,
      schema,
      path,
      evaluated: this.tracksEvaluated ? new Set() : undefined,
    };
    this.#checkReference(part);
    this.#checkType(part);
    this.#checkChoice(part);
    this.#checkCombined(part);
    this.#checkCondition(part);
    if (typeof value === 'string') this.#checkText(part as Part<string>);
    else if (typeof value === 'number') this.#checkNumber(part as Part<number>);
    else if (Array.isArray(value)) checkArray(this, part as Part<unknown[]>);
    else if (isObject(value)) checkObject(this, part as Part<JsonSchema>);
    const fits = this.problems.length === before;
    if (fits && applied) for (const key of part.evaluated ?? []) applied.add(key);
    return fits;
  }

  fail(
    { value, schema, path }: Omit<Part<unknown>, 'evaluated'>,
    keyword: string,
    error?: string,
    before = this.problems.length,
  ): void {
    const keys: (string | number)[] = [];
    for (let at = path; at; at = at.up) keys.push(at.key);
    const problem = { keyword, path: keys.reverse(), rule: schema[keyword], found: value, error };
    if (before === this.problems.length) this.problems.push(problem);
    else this.problems.splice(before, 0, problem);
  }

  #checkReference(part: Part<unknown>): void {
    const reference = part.schema['$ref'] as string | undefined;
    if (reference === undefined) return;
    const target = referenceTarget(part.schema, this.parts);
    if (target === undefined) throw new Error(`the schema's $ref "${reference}" leads nowhere`);
    this.visit(part.value, target, part.path, part.evaluated);
  }

  #checkType(part: Part<unknown>): void {
    const { type } = part.schema as { type?: string | string[] };
    if (type === undefined) return;
    const types = Array.isArray(type) ? type : [type];
    const found = typeOf(part.value);
    const isInteger = found === 'number' && Number.isInteger(part.value);
    if (!types.some((one) => one === found || (one === 'integer' && isInteger))) this.fail(part, 'type');
  }

  #checkChoice(part: Part<unknown>): void {
    const { schema, value } = part;
    if (schema['const'] !== undefined && !deepCompareStrict(value, schema['const'])) this.fail(part, 'const');
    const values = schema['enum'] as unknown[] | undefined;
    if (values !== undefined && !values.some((one) => deepCompareStrict(value, one))) this.fail(part, 'enum');
  }

  #checkCombined(part: Part<unknown>): void {
    const { value, schema, path, evaluated } = part;
    const before = this.problems.length;
    if (schema['not'] !== undefined) {
      const fits = this.visit(value, schema['not'], path);
      this.problems.length = before;
      if (fits) this.fail(part, 'not', 'Instance matched "not" schema.');
    }
    for (const keyword of ['anyOf', 'allOf', 'oneOf'] as const) {
      const schemas = schema[keyword] as unknown[] | undefined;
      if (schemas === undefined) continue;
      const from = this.problems.length;
      const matches = schemas.filter((one) => this.visit(value, one, path, evaluated)).length;
      if (keyword === 'allOf') continue;
      if (keyword === 'anyOf' ? matches > 0 : matches === 1) this.problems.length = from;
      else if (keyword === 'anyOf') this.fail(part, keyword, 'Instance does not match any subschemas.', from);
      else {
        const error = `Instance does not match exactly one subschema (${matches} matches).`;
        this.fail(part, keyword, error, from);
      }
    }
  }

  #checkCondition(part: Part<unknown>): void {
    const { value, schema, path, evaluated } = part;
    if (schema['if'] === undefined) return;
    const before = this.problems.length;
    const branch = this.visit(value, schema['if'], path, evaluated) ? 'then' : 'else';
    this.problems.length = before;
    if (schema[branch] !== undefined) this.visit(value, schema[branch], path, evaluated);
  }

  #checkText(part: Part<string>): void {
    const { value, schema } = part;
    const { minLength, maxLength } = schema as { minLength?: number; maxLength?: number };
    const { pattern, format } = schema as { pattern?: string; format?: string };
    const length = minLength === undefined && maxLength === undefined ? 0 : ucs2length(value);
    if (minLength !== undefined && length < minLength) this.fail(part, 'minLength');
    // A pattern may take long for a text that is too long anyway.
    if (maxLength !== undefined && length > maxLength) return this.fail(part, 'maxLength');
    if (pattern !== undefined && !this.pattern(pattern).test(value)) this.fail(part, 'pattern');
    if (format !== undefined && !fitsFormat(format, value)) this.fail(part, 'format');
  }

  #checkNumber(part: Part<number>): void {
    for (const [keyword, breaks] of NUMBER_KEYWORDS) {
      const rule = part.schema[keyword] as number | undefined;
      if (rule !== undefined && breaks(part.value, rule)) this.fail(part, keyword);
    }
  }
}

const NUMBER_KEYWORDS: readonly [keyword: string, breaks: (value: number, rule: number) => boolean][] = [
  ['minimum', (value, rule) => value < rule],
  ['maximum', (value, rule) => value > rule],
  ['exclusiveMinimum', (value, rule) => value <= rule],
  ['exclusiveMaximum', (value, rule) => value >= rule],
  ['multipleOf', (value, rule) => !isMultipleOf(value, rule)],
];

/** Compares decimal digits, so 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || !Number.isFinite(divisor) || divisor <= 0) return false;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const difference = exponent - divisorExponent;
  if (difference >= 0) return (digits * 10n ** BigInt(difference)) % divisorDigits === 0n;
  return digits % (divisorDigits * 10n ** BigInt(-difference)) === 0n;
}

/** A number as integer digits and a power of ten. */
function decimal(value: number): [bigint, number] {
  const [coefficient = '', exponent = '0'] = Math.abs(value).toString().split('e');
  const [whole = '', fraction = ''] = coefficient.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

/** @param parts of the whole schema by URI, from the library's `dereference` */
function referenceTarget(part: JsonSchema, parts: Record<string, unknown>): unknown {
  const { $ref, __absolute_ref__: address = $ref } = part as Record<'$ref' | '__absolute_ref__', string>;
  return parts[address];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

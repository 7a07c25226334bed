/** Keywords for strings and numbers (JSON Schema 2020-12 validation, sections 6.2 and 6.3). */
import { ucs2length } from '@cfworker/json-schema';
import { fitsFormat } from '../patterns/index.js';
import type { Part, Run } from './run.js';

export function checkString(run: Run, part: Part<string>): void {
  const { value, schema } = part;
  const { minLength, maxLength, pattern, format } = schema;
  const length = minLength === undefined && maxLength === undefined ? 0 : ucs2length(value);
  if (minLength !== undefined && length < (minLength as number))
    run.fail(part, 'minLength', `String is too short (${length} < ${minLength as number}).`);
  const isTooLong = maxLength !== undefined && length > (maxLength as number);
  if (isTooLong) run.fail(part, 'maxLength', `String is too long (${length} > ${maxLength as number}).`);
  if (!isTooLong && pattern !== undefined && !run.pattern(pattern as string).test(value))
    run.fail(part, 'pattern', 'String does not match pattern.');
  if (!isTooLong && format !== undefined && !fitsFormat(format as string, value))
    run.fail(part, 'format', `String does not match format "${format as string}".`);
}

export function checkNumber(run: Run, part: Part<number>): void {
  const { value, schema } = part;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<
    string,
    number
  >;
  if (minimum !== undefined && value < minimum)
    run.fail(part, 'minimum', `${value} is less than ${minimum}.`);
  if (maximum !== undefined && value > maximum)
    run.fail(part, 'maximum', `${value} is greater than ${maximum}.`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    run.fail(part, 'exclusiveMinimum', `${value} is less than ${exclusiveMinimum}.`);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    run.fail(part, 'exclusiveMaximum', `${value} is greater than or equal to ${exclusiveMaximum}.`);
  if (multipleOf !== undefined && !isMultipleOf(value, multipleOf))
    run.fail(part, 'multipleOf', `${value} is not a multiple of ${multipleOf}.`);
}

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

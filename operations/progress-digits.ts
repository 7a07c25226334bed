/** Rounding of progress to significant digits. */
import type { Progress } from './record.js';

/** Decimal places of amounts from 1; smaller amounts keep this many digits after their first one. */
const DECIMALS = 2;
/** Tolerance for rounding errors of summed fractions, in units of the last digit. */
const NOISE = 1e-6;

/** Rounds summed fractions: amounts down, totals up. Only finished work reaches the total, and progress stays monotonic. */
export function roundProgress({ progress, total, message }: Progress): Progress {
  const roundedTotal = total === undefined ? undefined : roundUp(total);
  const amount = roundDown(progress);
  const isDone = total !== undefined && roundedTotal !== undefined && progress >= total;
  return { progress: isDone ? Math.max(roundedTotal, amount) : amount, total: roundedTotal, message };
}

function roundDown(value: number): number {
  const unit = unitsPerOne(value);
  return Math.floor(value * unit + NOISE) / unit;
}

function roundUp(value: number): number {
  const unit = unitsPerOne(value);
  return Math.ceil(value * unit - NOISE) / unit + 0;
}

function unitsPerOne(value: number): number {
  const size = Math.abs(value);
  if (size >= 1 || size === 0) return 10 ** DECIMALS;
  return 10 ** (DECIMALS - Math.floor(Math.log10(size)));
}

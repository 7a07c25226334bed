/** Progress in as many digits as say something. */
import type { Progress } from './record.js';

/** Digits behind the decimal point of amounts from 1 on; smaller ones have as many digits as count. */
const DECIMALS = 2;
/** What is taken for a rounding error of sums of fractions, as a share of the last digit. */
const NOISE = 1e-6;

/**
 * Rounds progress for people and programs alike: sums of fractions have up to 17 digits. Amounts are rounded down and totals
 * up, so that the total is reached only by work that is done, and rounded progress never goes back where progress doesn't.
 */
export function roundProgress({ progress, total, message }: Progress): Progress {
  const roundedTotal = total === undefined ? undefined : roundUp(total);
  const amount = roundDown(progress);
  const isDone = total !== undefined && roundedTotal !== undefined && progress >= total;
  return {
    progress: isDone ? Math.max(roundedTotal, amount) : amount,
    ...(roundedTotal === undefined ? {} : { total: roundedTotal }),
    ...(message === undefined ? {} : { message }),
  };
}

function roundDown(value: number): number {
  const unit = unitsPerOne(value);
  return Math.floor(value * unit + NOISE) / unit;
}

function roundUp(value: number): number {
  const unit = unitsPerOne(value);
  // Not -0.
  return Math.ceil(value * unit - NOISE) / unit + 0;
}

function unitsPerOne(value: number): number {
  const size = Math.abs(value);
  if (size >= 1 || size === 0) return 10 ** DECIMALS;
  return 10 ** (DECIMALS - Math.floor(Math.log10(size)));
}

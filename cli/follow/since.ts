/** The flag --since: a time, or an age. */
import { InvalidArgumentError } from 'commander';

/** A century: longer ages are typing errors. */
const MOST_DAYS = 36_500;
const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

/** @returns an age in seconds, or a time, which isn't checked further. @throws InvalidArgumentError */
export function since(text: string): number | string {
  if (/^\d{4}-/.test(text)) return text;
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError(
      'expected a time such as 2026-11-21T12:00:00Z, or an age such as 30m, 2h or 3d.',
    );
  const seconds = Number(amount) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS];
  if (seconds > MOST_DAYS * UNIT_SECONDS.d)
    throw new InvalidArgumentError(`expected an age of at most ${MOST_DAYS}d.`);
  return seconds;
}

/** Measurements of tests, compared with the tables of the pages on cost. */
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';

/** A cell is a number, or a bound: `≤ n` or `≤ n KB`. */
function fits(cell: string | undefined, value: number): boolean {
  const [, most, unit] = /^≤ (\d+)( KB)?$/.exec(cell ?? '') ?? [];
  return most === undefined ? cell === String(value) : value <= Number(most) * (unit ? 1024 : 1);
}

/**
 * Expects what was measured to be what the row of the path says.
 *
 * @param measured a value for each further column of the table, in their order
 */
export function expectRow(page: string, path: string, measured: Record<string, number>): void {
  const lines = readFileSync(page, 'utf8').split('\n');
  const rows = lines.map((line) => line.split('|').slice(1, -1)).map((row) => row.map((cell) => cell.trim()));
  const values = Object.entries(measured);
  const row = rows.find((cells) => cells[0] === path && cells.length === 1 + values.length) ?? [];
  const wrong = values.filter(([, value], index) => !fits(row[index + 1], value));
  expect({ path, row, wrong }).toEqual({ path, row, wrong: [] });
}

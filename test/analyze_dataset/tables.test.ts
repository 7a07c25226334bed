/**
 * Grouped, filtered and aggregated, random tables give what pandas computes from them, or a note names the column. Seeds follow
 * one another, so every failure can be repeated: LONGHAUL_TABLES_SEED is the first, LONGHAUL_TABLES how many.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { INSTALL_LIMIT_MS } from '../support/install-once.js';
import { differences, startOracle } from './tables.js';
import type { Oracle } from './tables.js';

const COUNT = Number(process.env['LONGHAUL_TABLES'] ?? 200);
const FIRST = Number(process.env['LONGHAUL_TABLES_SEED'] ?? 1);
const PROCESSES = 2;
const MAX_SHOWN = Number(process.env['LONGHAUL_TABLES_SHOWN'] ?? 3);

let oracles: Oracle[] = [];
beforeAll(async () => {
  const first = await startOracle();
  const others = await Promise.all(Array.from({ length: PROCESSES - 1 }, () => startOracle()));
  oracles = [first, ...others];
}, INSTALL_LIMIT_MS);
afterAll(() => oracles.forEach((oracle) => oracle.end()));

test(
  `${COUNT} tables from seed ${FIRST}: answers are those of pandas, or a note names the column`,
  async () => {
    const failed = new Map<number, string[]>();
    let next = FIRST;
    await Promise.all(
      oracles.map(async (oracle) => {
        while (next < FIRST + COUNT && failed.size < MAX_SHOWN) {
          const seed = next++;
          const found = await differences(oracle, seed);
          if (found.length > 0) failed.set(seed, found);
          if ((seed - FIRST + 1) % 100 === 0)
            process.stderr.write(`${seed - FIRST + 1} tables, ${failed.size} failed\n`);
          if (found.length > 0) process.stderr.write(`seed ${seed}: ${found[0]}\n`);
        }
      }),
    );
    const reports = [...failed].map(([seed, found]) => `seed ${seed}: ${found.slice(0, 5).join('\n')}`);
    expect(reports.join('\n\n')).toBe('');
  },
  COUNT * 5_000 + 120_000,
);

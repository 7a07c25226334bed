/** Temporal's log shows when its connection to the database is stuck. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDatabaseStuck } from '../../stack/temporal/stuck-database.js';

const INTERVAL_MS = 40;
const FAILURE =
  '{"level":"ERROR","msg":"Operation failed with internal error.","error":"GetNamespace operation failed. Error interrupted (9)"}\n';

let folder: string;
let log: string;
let ended: AbortController;
let writing: NodeJS.Timeout | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-stuck-'));
  log = join(folder, 'temporal.log');
  ended = new AbortController();
});
afterEach(() => {
  clearInterval(writing);
  ended.abort();
  rmSync(folder, { recursive: true });
});

const watch = (from = 0) => isDatabaseStuck({ log, from, signal: ended.signal, intervalMs: INTERVAL_MS });

test('lasting failures are noticed, also in a log that was rotated', async () => {
  writeFileSync(log, 'x'.repeat(100_000));
  const stuck = watch(100_000);
  writeFileSync(log, '');
  writing = setInterval(() => appendFileSync(log, FAILURE.repeat(3)), INTERVAL_MS / 4);
  expect(await stuck).toBe(true);
});

test('failures of before, and some between other lines, are not', async () => {
  writeFileSync(log, FAILURE.repeat(1_000));
  const stuck = watch(FAILURE.length * 1_000);
  let writes = 0;
  // Many at once, with pauses.
  writing = setInterval(() => {
    writes += 1;
    appendFileSync(log, writes % 8 === 0 ? FAILURE.repeat(100) : '{"level":"WARN"}\n');
  }, INTERVAL_MS);
  await new Promise<void>((done) => {
    const look = setInterval(() => {
      if (writes < 40) return;
      clearInterval(look);
      done();
    }, INTERVAL_MS);
  });
  ended.abort();
  expect(await stuck).toBe(false);
});

/** `longhaul doctor` on databases that are intact, written to, and damaged. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { copyDatabase } from '../../stack/temporal/database-snapshot.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import { FIXTURES } from '../support/test-stack.js';
import { TestHome } from './cli-process.js';

jest.setTimeout(OUTAGE_MS);

let home: TestHome;
let scratch: string;
/** An intact database, without a log. */
let intact: string;
beforeAll(async () => {
  home = await TestHome.create();
  scratch = mkdtempSync(join(tmpdir(), 'longhaul-scratch-'));
  await home.up({ LONGHAUL_PROJECT: FIXTURES });
}, STACK_MS);
afterAll(async () => {
  await home?.remove();
  rmSync(scratch, { recursive: true, force: true });
});

async function doctor(): Promise<{ code: number | string; line: string; advice: string }> {
  const run = home.run(['doctor'], { TMPDIR: scratch });
  const code = await run.ended;
  const [line = '', next = ''] =
    run
      .stdout()
      .split(/^(?=\w+ +database )/m)[1]
      ?.split('\n') ?? [];
  return { code, line, advice: next.trim().startsWith('->') ? next.trim() : '' };
}

/** Everything in the home that is the database's, by content and time. */
function state(): string[] {
  return readdirSync(home.path)
    .filter((name) => name.startsWith('temporal.db'))
    .map((name) => {
      const path = join(home.path, name);
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      return `${name} ${statSync(path).mtimeMs} ${hash}`;
    });
}

test('while the stack runs and writes operations, it is intact, and every operation continues', async () => {
  const calls = Array.from({ length: 6 }, (_, index) =>
    home.run(['call', 'slow_compute', '--seconds', '3', '--label', String(index)]),
  );
  for (let round = 1; round <= 3; round += 1)
    expect((await doctor()).line).toMatch(/^ok +database +\S+\/temporal\.db, [\d.]+ MiB, intact$/);
  expect(await Promise.all(calls.map(({ ended }) => ended))).toEqual(calls.map(() => 0));
});

describe('after its end', () => {
  beforeAll(async () => {
    await home.run(['down']).ended;
    intact = join(home.path, 'intact.sqlite');
    await copyDatabase(join(home.path, 'temporal.db'), intact);
    expect(statSync(intact).size).toBeGreaterThan(100_000);
  });

  function put(damage: (path: string) => void): void {
    for (const name of readdirSync(home.path).filter((one) => one.startsWith('temporal.db')))
      rmSync(join(home.path, name));
    const path = join(home.path, 'temporal.db');
    copyFileSync(intact, path);
    damage(path);
  }

  function overwrite(path: string, at: number, bytes: Buffer): void {
    const file = openSync(path, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }

  test('one without damage is intact, and nothing of it has changed', async () => {
    put(() => undefined);
    const before = state();
    expect((await doctor()).line).toMatch(/^ok +database .*intact$/);
    expect(state()).toEqual(before);
  });

  const damages: [what: string, damage: (path: string) => void, message: RegExp][] = [
    [
      'an overwritten header',
      (path) => overwrite(path, 0, Buffer.alloc(100)),
      /temporal\.db: file is not a database/,
    ],
    [
      'an impossible page size',
      (path) => overwrite(path, 16, Buffer.from([0, 7])),
      /temporal\.db: file is not a database/,
    ],
    ['a truncated file', (path) => truncateSync(path, 40_960), /temporal\.db: .*malformed/],
    [
      'pages of rubbish',
      (path) => overwrite(path, 8 * 4096, Buffer.alloc(30 * 4096, 0xa7)),
      /temporal\.db: .*(page|malformed)/i,
    ],
  ];
  test.each(damages)('%s is named, with the remedy, and left as it is', async (_name, damage, message) => {
    put(damage);
    const before = state();
    const { code, line, advice } = await doctor();
    expect(line).toMatch(/^fail +database +\S+\/temporal\.db: /);
    expect(line).toMatch(message);
    expect(advice).toMatch(/^-> end the stack, then restore temporal\.db\*.*from a backup, or move them out/);
    expect(code).toBe(1);
    expect(state()).toEqual(before);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('one that is not there is no failure', async () => {
    put((path) => rmSync(path));
    expect(existsSync(join(home.path, 'temporal.db'))).toBe(false);
    expect((await doctor()).line).toMatch(/^ok +database +none yet in /);
  });
});

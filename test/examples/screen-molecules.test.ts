/** The tool of examples/screen-molecules through the protocols, and the example's own tests. */
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import type { ProtocolClient, Reading } from '../support/protocols/client.js';
import { TestStack } from '../support/test-stack.js';
import { installExample, runOwnTests, runScript, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const QUESTION = { path: 'output/library.smi', query: 'NC(=O)c1ccc(N2CCOCC2)cc1', top: 2 };

let folder: string;
let stack: TestStack;

beforeAll(async () => {
  folder = await installExample('screen-molecules');
  await runScript(folder, 'enumerate');
  stack = await TestStack.start({ LONGHAUL_PROJECT: folder });
});
afterAll(async () => {
  await stack?.stop();
  if (folder) rmSync(dirname(folder), { recursive: true, force: true });
});

const until = (client: ProtocolClient, what: string, token: string, holds: (now: Reading) => unknown) =>
  eventually(`${client.name}: ${what}`, async () => {
    const now = await client.read(token);
    return now && holds(now) ? now : undefined;
  });

test('molecules are screened, with progress and the best hits so far; a cancel ends another run', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) =>
    index === 499 ? 'C1CC' : `${'C'.repeat(1 + (index % 40))}N\tamine ${index}`,
  );
  writeFileSync(join(folder, 'output/amines.smi'), lines.join('\r\n'));
  await throughProtocols('screen-molecules', stack.base, 'tasks', async (client) => {
    const jobs = new JobsClient(stack.base);
    const key = randomUUID();
    const small = { ...QUESTION, path: 'output/amines.smi', minSimilarity: 0 };
    const token = await client.start('screen_molecules', small, key);
    expect(await client.start('screen_molecules', small, key)).toBe(token);
    const { result } = await until(client, 'it is over', token, ({ isOver }) => isOver);
    expect(result).toMatchObject({
      lines: 1_000,
      molecules: 999,
      badLines: { count: 1, first: [{ line: 500, reason: 'unclosed ring', text: 'C1CC' }] },
      best: [{ druglikeness: expect.any(Number) }, { logS: expect.any(Number) }],
    });

    // 250,000 molecules, of which some are screened before the cancel.
    const large = await client.start('screen_molecules', QUESTION, randomUUID());
    const { partial, progress } = await jobs.until(large, ({ partial }) => partial?.best.length === 2);
    expect(progress.total).toBe(250_000);
    expect(partial.best[0].similarity).toBeGreaterThanOrEqual(0.3);
    await client.cancel(large);
    const { states } = await until(client, 'it is canceled', large, ({ isOver }) => isOver);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
    const kept = await jobs.until(large, 'canceled');
    expect(kept.partial.molecules).toBeGreaterThan(0);
  });
});

test('a broken query fails before anything is read', async () => {
  const token = await stack.client.start('screen_molecules', {
    ...QUESTION,
    path: 'none.smi',
    query: 'C1CC',
  });
  expect(await new JobsClient(stack.base).until(token, 'failed')).toMatchObject({
    error: { message: 'query C1CC: unclosed ring' },
  });
});

test("the example's own types and tests pass", () => runOwnTests(folder));

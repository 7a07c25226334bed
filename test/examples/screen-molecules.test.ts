/** The tool of examples/screen-molecules through the protocols, and the example's own tests. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver } from '../support/protocols/index.js';
import { ExampleStack, runOwnTests, runScript, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const QUESTION = { path: 'output/library.smi', query: 'NC(=O)c1ccc(N2CCOCC2)cc1', top: 2 };

let example: ExampleStack;

beforeAll(async () => {
  example = await ExampleStack.start('screen-molecules', async (folder) => {
    await runScript(folder, 'enumerate');
  });
});
afterAll(() => example?.stop());

test('molecules are screened, with progress and the best hits so far; a cancel ends another run', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) =>
    index === 499 ? 'C1CC' : `${'C'.repeat(1 + (index % 40))}N\tamine ${index}`,
  );
  writeFileSync(join(example.folder, 'output/amines.smi'), lines.join('\r\n'));
  await throughProtocols('screen-molecules', example.base, 'tasks', async (client) => {
    const jobs = new JobsClient(example.base);
    const key = randomUUID();
    const small = { ...QUESTION, path: 'output/amines.smi', minSimilarity: 0 };
    const token = await client.start('screen_molecules', small, key);
    expect(await client.start('screen_molecules', small, key)).toBe(token);
    const { result } = await untilOver(client, token);
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
    const { states } = await untilOver(client, large);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
    const kept = await jobs.until(large, 'canceled');
    expect(kept.partial.molecules).toBeGreaterThan(0);
  });
});

test('a broken query fails before anything is read', async () => {
  const token = await example.stack.client.start('screen_molecules', {
    ...QUESTION,
    path: 'none.smi',
    query: 'C1CC',
  });
  expect(await new JobsClient(example.base).until(token, 'failed')).toMatchObject({
    error: { message: 'query C1CC: unclosed ring' },
  });
});

test("the example's own types and tests pass", () => runOwnTests(example.folder));

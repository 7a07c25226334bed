/** The tool of examples/review-by-agents through the protocols, with its question, and the example's own tests with its agents. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { makeRepository, type Repository } from '../../examples/review-by-agents/sample/repository.js';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import type { ProtocolClient, Reading } from '../support/protocols/client.js';
import { TestStack } from '../support/test-stack.js';
import { installExample, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

let folder: string;
let repository: Repository;
let stack: TestStack;

beforeAll(async () => {
  folder = await installExample('review-by-agents');
  repository = await makeRepository(join(folder, 'output'));
  stack = await TestStack.start({ LONGHAUL_PROJECT: folder });
}, INSTALL_MS);
afterAll(async () => {
  await stack?.stop();
  if (folder) rmSync(dirname(folder), { recursive: true, force: true });
});

const until = (client: ProtocolClient, what: string, token: string, holds: (now: Reading) => unknown) =>
  eventually(`${client.name}: ${what}`, async () => {
    const now = await client.read(token);
    return now && holds(now) ? now : undefined;
  });
const ended = (client: ProtocolClient, token: string) =>
  until(client, 'it is over', token, ({ isOver }) => isOver);

test('a review asks about a large diff, and ends with its findings', () =>
  throughProtocols('review-by-agents', stack.base, 'plain', async (client) => {
    const key = randomUUID();
    const args = { ...repository, maxFiles: 5 };
    const token = await client.start('review_diff', args, key);
    expect(await client.start('review_diff', args, key)).toBe(token);
    const { questions } = await until(client, 'it asks', token, (now) => now.questions.length > 0);
    expect(questions).toMatchObject([{ message: expect.stringContaining('7 files are more than 5') }]);
    await client.answer(token, questions[0]!.key, { all: true });
    // A client that looks in time sees the progress by file; each look may be the last one.
    let last = 0;
    await until(client, 'it is over', token, ({ progress, isOver }) => {
      expect(progress?.progress ?? last).toBeGreaterThanOrEqual(last);
      last = progress?.progress ?? last;
      return isOver;
    });
    const { result } = await ended(client, token);
    expect(result).toMatchObject({ files: 8, checked: 7, skipped: [{ file: 'logo.png', reason: 'binary' }] });
    expect(result.findings).toContainEqual(
      expect.objectContaining({ file: 'src/depots.ts', line: 7, severity: 'error', by: ['lint', 'types'] }),
    );

    const other = await client.start('review_diff', { ...repository, maxFiles: 5 }, randomUUID());
    const asked = await until(client, 'it asks', other, (now) => now.questions.length > 0);
    await client.answer(other, asked.questions[0]!.key, 'decline');
    expect((await ended(client, other)).result).toMatchObject({ checked: 5 });
    const wrong = await client.start(
      'review_diff',
      { ...repository, diff: repository.folder + '/README.md' },
      randomUUID(),
    );
    const { states, raw } = await ended(client, wrong);
    expect(states).toContain('failed');
    expect(JSON.stringify(raw)).toContain('it is no unified diff');
  }));

test("the example's own types and tests pass, those of its agents among them", () => runOwnTests(folder));

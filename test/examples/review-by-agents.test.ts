/** The tool of examples/review-by-agents through the protocols, with its question, and the example's own tests with its agents. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { makeRepository, type Repository } from '../../examples/review-by-agents/sample/repository.js';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver, untilReading } from '../support/protocols/index.js';
import { ExampleStack, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

let repository: Repository;
let example: ExampleStack;

beforeAll(async () => {
  example = await ExampleStack.start('review-by-agents', async (folder) => {
    repository = await makeRepository(join(folder, 'output'));
  });
}, INSTALL_MS);
afterAll(() => example?.stop());

test('a review asks about a large diff, and ends with its findings', () =>
  throughProtocols('review-by-agents', example.base, 'plain', async (client) => {
    const key = randomUUID();
    const args = { ...repository, maxFiles: 5 };
    const token = await client.start('review_diff', args, key);
    expect(await client.start('review_diff', args, key)).toBe(token);
    const { questions } = await untilReading(client, 'it asks', token, (now) => now.questions.length > 0);
    expect(questions).toMatchObject([{ message: expect.stringContaining('7 files are more than 5') }]);
    await client.answer(token, questions[0]!.key, { all: true });
    // A client that looks in time sees the progress by file; each look may be the last one.
    let last = 0;
    await untilReading(client, 'it is over', token, ({ progress, isOver }) => {
      expect(progress?.progress ?? last).toBeGreaterThanOrEqual(last);
      last = progress?.progress ?? last;
      return isOver;
    });
    const { result } = await untilOver(client, token);
    expect(result).toMatchObject({ files: 8, checked: 7, skipped: [{ file: 'logo.png', reason: 'binary' }] });
    expect(result.findings).toContainEqual(
      expect.objectContaining({ file: 'src/depots.ts', line: 7, severity: 'error', by: ['lint', 'types'] }),
    );

    const other = await client.start('review_diff', { ...repository, maxFiles: 5 }, randomUUID());
    const asked = await untilReading(client, 'it asks', other, (now) => now.questions.length > 0);
    await client.answer(other, asked.questions[0]!.key, 'decline');
    expect((await untilOver(client, other)).result).toMatchObject({ checked: 5 });
    const wrong = await client.start(
      'review_diff',
      { ...repository, diff: repository.folder + '/README.md' },
      randomUUID(),
    );
    const { states, raw } = await untilOver(client, wrong);
    expect(states).toContain('failed');
    expect(JSON.stringify(raw)).toContain('it is no unified diff');
  }));

test("the example's own types and tests pass, those of its agents among them", () =>
  runOwnTests(example.folder));

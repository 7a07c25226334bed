/** The tool of examples/run-test-suite through the protocols, and the example's own tests. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver, untilReading } from '../support/protocols/index.js';
import { ExampleStack, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const SUITE = `
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

test('fails', () => assert.equal(1, 2));
test('waits', async () => {
  while (!existsSync('gate')) await sleep(50);
});`;

let example: ExampleStack;

beforeAll(async () => {
  example = await ExampleStack.start('run-test-suite');
});
afterAll(() => example?.stop());

/** A suite of node:test, in a folder that could also have one of pytest. */
function writeSuite(): string {
  const name = `suite-${randomUUID().slice(0, 8)}`;
  mkdirSync(join(example.folder, name, 'test'), { recursive: true });
  writeFileSync(join(example.folder, name, 'test/gate.test.mjs'), SUITE);
  writeFileSync(join(example.folder, name, 'test/other.test.mjs'), `import 'node:test';\n`);
  writeFileSync(join(example.folder, name, 'pytest.ini'), '[pytest]\n');
  return name;
}

test('it asks which suite, shows a failed test before the end, and ends its processes with a cancel', () =>
  throughProtocols('run-test-suite', example.base, 'tasks', async (client) => {
    const jobs = new JobsClient(example.base);
    const begin = async (): Promise<[string, string]> => {
      const suite = writeSuite();
      const token = await client.start('run_test_suite', { folder: suite }, randomUUID());
      const { questions } = await untilReading(
        client,
        'it asks',
        token,
        ({ questions }) => questions.length > 0,
      );
      expect(questions[0]!.message).toBe(`${suite} has suites of node, pytest. Which one should be run?`);
      await client.answer(token, questions[0]!.key, { runner: 'node' });
      const { partial } = await jobs.until(token, ({ partial }) => partial?.failing.length > 0);
      expect(partial.failing).toMatchObject([{ file: 'test/gate.test.mjs', name: 'fails' }]);
      return [suite, token];
    };
    const [suite, token] = await begin();
    // The file without tests has ended; that of the failed test waits for the gate.
    const { progress } = await jobs.until(token, ({ progress }) => progress?.progress === 1);
    expect(progress).toMatchObject({ total: 2 });
    writeFileSync(join(example.folder, suite, 'gate'), '');
    const { result } = await untilOver(client, token);
    expect(result).toMatchObject({ runner: 'node', outcome: 'failed', failed: 1, flaky: 0, shards: 2 });
    expect(result.failures).toMatchObject([{ name: 'fails', message: expect.stringContaining('1 !== 2') }]);

    const [, cancelled] = await begin();
    await client.cancel(cancelled);
    const { states } = await untilOver(client, cancelled);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
    const kept = await jobs.until(cancelled, 'canceled');
    expect(kept.partial.failing).toHaveLength(1);
  }));

test("the example's own types and tests pass", () => runOwnTests(example.folder));

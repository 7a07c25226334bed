/** Patterns on real processes: hostile arguments, hostile answers, and patterns that can't be used. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

/** JavaScript's own engine takes years over these. */
const HOSTILE = `${'a'.repeat(60)}b`;
const HOSTILE_NAME = `${'b'.repeat(60)}c`;
const HOSTILE_LINK = `http://${'a'.repeat(60)}!`;

const parts = await forAllTests(TestStack.shared());

async function refusal(name: string, args: object): Promise<string[]> {
  const { result } = await parts.client.call(name, args);
  expect(result).toMatchObject({ isError: true });
  return result.content.flatMap(({ text }: any) => text.split('\n'));
}

test('arguments that would keep a backtracking engine busy for years are refused, and other requests are served', async () => {
  const refused = Promise.all([
    refusal('coded', { code: HOSTILE }),
    refusal('coded', { link: HOSTILE_LINK }),
    refusal('coded', { [`${HOSTILE_NAME}1`]: 1 }),
  ]);
  const ready = await fetch(`${parts.base}/readyz`);
  expect(ready.status).toBe(200);
  const [code, link, name] = await refused;
  expect(code).toContain(`arguments.code: expected pattern ^(a+)+$; got "${HOSTILE}"`);
  expect(link).toContain(`arguments.link: expected format url; got "${HOSTILE_LINK}"`);
  expect(name).toContain(`arguments.${HOSTILE_NAME}1: expected pattern ^([a-z]+)+$; got "${HOSTILE_NAME}1"`);
});

test('arguments that fit patterns start the work; a name that matches patternProperties has its schema', async () => {
  const taskId = await parts.client.start('coded', { code: 'aaa', bbb: 1 });
  const done = await parts.client.until(taskId, 'completed');
  expect(done.result.structuredContent).toEqual({ code: 'aaa', bbb: 1 });
  expect(await refusal('coded', { bbb: 'x' })).toContain('arguments.bbb: expected integer; got "x"');
});

test('an answer that would keep the sandbox busy for years is refused, and the question stays open', async () => {
  const token = await parts.client.start('ask_code');
  const { inputRequests } = await parts.client.until(token, 'input_required');
  const [key] = Object.keys(inputRequests) as [string];
  const answer = (content: object) =>
    parts.client.call('operation_answer', { token, key, action: 'accept', content });
  const { result } = await answer({ code: HOSTILE, site: '-' });
  expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'invalid_answer' } } });
  expect(result.content[0].text).toContain(`content.code: expected pattern ^(a+)+$; got "${HOSTILE}"`);
  expect(result.content[0].text).toContain('content.site: expected pattern ^(?=.{1,253}');
  expect(await answer({ code: 'aaa', site: 'example.org' })).not.toMatchObject({ result: { isError: true } });
  const done = await parts.client.until(token, 'completed');
  expect(done.result.structuredContent).toEqual({
    action: 'accept',
    content: { code: 'aaa', site: 'example.org' },
  });
});

test.each([
  ['^a(?=b)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?:x{100}){100}', 'invalid repeat count'],
])('a question with the pattern %s fails the workflow, for good', async (pattern, why) => {
  const token = await parts.client.start('ask_for_pattern', { pattern });
  const done = await parts.client.until(
    token,
    ({ status }) => !['working', 'input_required'].includes(status),
  );
  expect(done.result).toMatchObject({ isError: true });
  expect(done.result.content[0].text).toContain(`requestInput.properties.text.pattern: ${why}`);
});

test('a server does not start with a pattern that can not be used, and names tool, path and construct', async () => {
  const folder = temporaryFolder('patterns');

  mkdirSync(join(folder, 'tools'));
  writeFileSync(
    join(folder, 'tools/strict.ts'),
    `import { defineTool } from 'longhaul';
       export default defineTool({
         name: 'strict',
         description: { does: 'x.' },
         input: { type: 'object', properties: { word: { type: 'string', pattern: '^(?!no).*$' } } },
         estimate: { seconds: 1 },
       });`,
  );
  const server = parts.run('server', { LONGHAUL_PROJECT: folder, LONGHAUL_SHIPPED_TOOLS: 'false' });
  await once(server.process, 'close');
  await server.end();
  expect(server.process.exitCode).toBe(1);
  expect(server.output()).toContain(
    'tool "strict": input.properties.word.pattern: invalid or unsupported Perl syntax: `(?!`',
  );
});

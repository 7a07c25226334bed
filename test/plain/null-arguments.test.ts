import { expect, test } from '@jest/globals';
import { withoutNulls } from '../../mcp-server/plain/schemas.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { call, follow, textOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const client = parts.client.with({});

test('optional arguments that are null count as left out, and a job is driven with them', async () => {
  const started = await call(client, 'confirm_delete', { filename: 'a', idempotency_key: null });
  const { token } = started.structuredContent;
  await follow(client, token, 'input_required');
  const logs = { step: null, from_line: null, to_line: null, tail: null, pattern: null, cursor: null };
  const seen = await call(client, 'operation_get', { token, ...logs });
  expect(seen.structuredContent).toMatchObject({ token, status: 'input_required' });
  const answered = await call(client, 'operation_answer', { token, content: { confirm: true }, key: null });
  expect(answered.structuredContent.answered).toMatchObject({ key: 'input-1', action: 'accept' });
  const done = await follow(client, token, 'completed');
  expect(done.result).toEqual({ answer: 'accept', deleted: ['a'] });
  const listed = await call(client, 'operation_list', { tool: null, status: null });
  expect(listed.isError).toBeUndefined();
});

test('null is refused for an argument that is required, and for one with a default', async () => {
  const refused = await call(client, 'confirm_delete', { filename: null });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toContain('arguments.filename: expected string; got null');
  const withDefault = await call(client, 'slow_compute', { seconds: 0, label: null });
  expect(textOf(withDefault)).toContain('arguments.label: expected string; got null');
});

test('null stays where the schema may take it, and where it is unknown', () => {
  const properties = {
    union: { type: ['string', 'null'] },
    choice: { enum: ['a', null] },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    anything: {},
    text: { type: 'string' },
    letter: { enum: ['a'] },
    needed: { type: 'string' },
    preset: { type: 'string', default: '' },
  };
  const args = Object.fromEntries([...Object.keys(properties), 'unknown'].map((name) => [name, null]));
  expect(Object.keys(withoutNulls({ properties, required: ['needed'] }, args))).toEqual([
    'union',
    'choice',
    'either',
    'anything',
    'needed',
    'preset',
    'unknown',
  ]);
});

test('the content of an answer may have values of any type', async () => {
  const { tools } = (await client.request('tools/list')).result;
  const { inputSchema } = tools.find(({ name }: { name: string }) => name === 'operation_answer');
  expect(inputSchema.properties.content).toMatchObject({ type: 'object', additionalProperties: true });
});

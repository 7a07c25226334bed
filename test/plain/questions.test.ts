import { describe, expect, test } from '@jest/globals';
import { digestOf } from '../../operations/token.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { sealOf } from '../../platform/home/seal.js';
import { loadSecret } from '../../platform/home/secret.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { call, follow, FORMS, start, textOf } from './support.js';

const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const parts = await forAllTests(TestStack.shared());
const mute = parts.client.with({});
const forms = parts.client.with(FORMS);

const ADA = { name: 'Ada', town: 'Bath' };
const accept = (content: object) => ({ action: 'accept', content });

/** Calls until the question in the middle, and returns the fields that the retry needs. */
async function callUntilAsked(args: object = ADA) {
  const asked = await call(forms, 'interview', args);
  expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  const [key] = Object.keys(asked.inputRequests);
  return { asked, key: key!, requestState: asked.requestState as string };
}

test('a client without elicitation has its wait ended by a question at once, and learns how to answer', async () => {
  const result = await call(mute, 'interview', { ...ADA, wait: true });
  const { token, next_action } = result.structuredContent;
  const { key } = next_action.args;
  expect(result.structuredContent.status).toBe('input_required');
  expect(next_action).toMatchObject({
    tool: 'operation_answer',
    args: { token, key: expect.any(String) },
    question: { message: 'Do you like Bath?', schema: { required: ['likes_it'] } },
  });
  expect(result).not.toHaveProperty('isError');
  for (const word of ['Do you like Bath?', 'likes_it', 'operation_answer', key])
    expect(textOf(result)).toContain(word);
  const answered = await call(mute, 'operation_answer', { ...next_action.args, content: { likes_it: true } });
  expect(answered.isError).toBeUndefined();
  expect(await follow(mute, token, 'completed')).toMatchObject({ result: { said: 'Ada likes Bath' } });
});

test('a client without elicitation is not asked before the start: the call lacks arguments', async () => {
  const result = await call(mute, 'interview', {});
  expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'invalid_arguments' } } });
});

describe('a client with elicitation', () => {
  test('is asked by the end of the call; its retry answers, and waits for the same operation', async () => {
    const { asked, key, requestState } = await callUntilAsked();
    expect(asked.inputRequests[key]).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Do you like Bath?', requestedSchema: { required: ['likes_it'] } },
    });
    const result = await call(forms, 'interview', ADA, {
      requestState,
      inputResponses: { [key]: accept({ likes_it: false }) },
    });
    expect(result.structuredContent).toMatchObject({
      status: 'completed',
      result: { said: 'Ada dislikes Bath' },
    });
    const repeated = await call(forms, 'interview', ADA, {
      requestState,
      inputResponses: { [key]: accept({ likes_it: true }) },
    });
    expect(repeated.structuredContent).toMatchObject({
      token: result.structuredContent.token,
      result: { said: 'Ada dislikes Bath' },
    });
  });

  test('is asked again with the reason after an answer that does not fit; then it can decline', async () => {
    const { key, requestState } = await callUntilAsked();
    const again = await call(forms, 'interview', ADA, {
      requestState,
      inputResponses: { [key]: accept({ likes_it: 'very much' }) },
    });
    expect(again.inputRequests[key].params.message).toMatch(/Do you like Bath\?[^]*expected boolean/);
    const result = await call(forms, 'interview', ADA, {
      requestState: again.requestState,
      inputResponses: { [key]: { action: 'decline' } },
    });
    expect(result.structuredContent.result).toEqual({ said: 'Ada decline Bath' });
  });

  test('may put a question away, which comes again under another key', async () => {
    const { key, requestState } = await callUntilAsked();
    const again = await call(forms, 'interview', ADA, {
      requestState,
      inputResponses: { [key]: { action: 'cancel' } },
    });
    expect(again.resultType).toBe('input_required');
    expect(Object.keys(again.inputRequests)).not.toContain(key);
  });

  test('is asked for arguments before the start, in as many rounds as it takes, and nothing starts twice', async () => {
    const first = await call(forms, 'interview', {});
    expect(Object.keys(first.inputRequests)).toEqual(['name', 'town']);
    const second = await call(forms, 'interview', {}, { inputResponses: { name: accept({ name: 'Ada' }) } });
    expect(Object.keys(second.inputRequests)).toEqual(['town']);
    const third = await call(
      forms,
      'interview',
      {},
      { requestState: second.requestState, inputResponses: { town: accept({ town: 'Ware' }) } },
    );
    const [key] = Object.keys(third.inputRequests);
    expect(third.inputRequests[key!].params.message).toBe('Do you like Ware?');
    const result = await call(
      forms,
      'interview',
      {},
      { requestState: third.requestState, inputResponses: { [key!]: accept({ likes_it: true }) } },
    );
    expect(result.structuredContent.result).toEqual({ said: 'Ada likes Ware' });
  });
});

describe('a requestState', () => {
  const refusal = async (requestState: unknown, args: object = ADA, name = 'interview') =>
    (await forms.request('tools/call', { name, arguments: args, requestState })).error!;
  const forged = (token: string, changes: object) =>
    sealOf(secret, 'request state').seal({
      principal: ANONYMOUS,
      argumentsDigest: digestOf('interview', ADA, secret),
      validUntil: Date.now() + 60_000,
      state: { at: 'waiting', token, keys: ['input-1'] },
      ...changes,
    });

  test('that was tampered with is refused', async () => {
    const { requestState } = await callUntilAsked();
    const at = Math.floor(requestState.length / 2);
    const changed =
      requestState.slice(0, at) + (requestState[at] === 'A' ? 'B' : 'A') + requestState.slice(at + 1);
    for (const bad of [changed, 'nonsense', '', 'x'.repeat(10_000)])
      expect(await refusal(bad)).toMatchObject({
        code: -32602,
        message: expect.stringContaining('requestState'),
      });
    expect(await refusal(7)).toMatchObject({ code: -32602 });
  });

  test('is good for the same call alone, and for the same principal', async () => {
    const { requestState } = await callUntilAsked();
    expect(await refusal(requestState, { ...ADA, town: 'Ware' })).toMatchObject({ code: -32602 });
    expect(await refusal(requestState, ADA, 'spoken')).toMatchObject({ code: -32602 });
    expect(await refusal(forged('token', { principal: 'somebody else' }))).toMatchObject({ code: -32602 });
  });

  test('that is outdated is refused, naming the token', async () => {
    const { token } = await start(forms, 'interview', ADA);
    const error = await refusal(forged(token, { validUntil: Date.now() - 1 }));
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`operation_get {"token":"${token}"}`),
      data: { token },
    });
  });
});

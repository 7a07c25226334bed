/** Answers carry who gave them; questions for some callers only are answered by no one else, in the engine and in Temporal. */
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';
import { signAnswer } from '../../engine/start/sign.js';
import { answerDigest } from '../../operations/answers.js';
import type { OperationRecord } from '../../operations/record.js';
import { workflowIdOf } from '../../operations/token.js';
import { defineTool } from '../../operations/tool/index.js';
import { loadSecret } from '../../platform/home/secret.js';
import { Signer } from '../../platform/temporal/signer.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const ALICE = `acme/alice-${randomUUID()}`;
const BOB = 'acme/bob';
const YES = { action: 'accept', content: { ok: true } } as const;
const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const release = defineTool({
  name: 'release',
  description: { does: 'x' },
  input: { type: 'object', properties: {}, additionalProperties: true },
  estimate: { seconds: 1 },
});

const stack = await forAllTests(TestStack.shared());
const temporal = await stack.temporal();
const engine = await inSetUp(connectEngine(stack.taskQueue, { tools: [release] }));
/** Its operations take no answers without a signature. */
const strict = await inSetUp(connectEngine(stack.taskQueue, { tools: [release], operatorAnswers: false }));
afterAllTests(async () => {
  for (const one of [engine, strict]) await one.temporal.close();
});

async function asking(rules: object, principal = ALICE, by = engine): Promise<OperationRecord> {
  const { token } = await by.start(principal, release, { fourEyes: false, ...rules });
  return eventually('it asks', async () => {
    const record = await by.read(principal, token);
    return record.status === 'input_required' ? record : undefined;
  });
}

const ended = ({ principal, token }: OperationRecord) =>
  eventually('it has ended', async () => {
    const record = await engine.read(principal, token);
    return record.closedAt ? record : undefined;
  });

const idOf = ({ principal, token }: OperationRecord) => workflowIdOf(principal, token, secret);

/** An update by Temporal's client. @returns type of the failure with which it was refused; undefined if it was accepted */
async function update(id: string, input: object): Promise<string | undefined> {
  try {
    await temporal.workflow.getHandle(id).executeUpdate('provide_input', { args: [input] });
    return undefined;
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    return (error.cause as { type?: string }).type;
  }
}

test('the record has who answered with a role, verified, at no event more than without a name', async () => {
  const record = await asking({});
  const { id } = await engine.answer(ALICE, record.token, 'input-1', YES, { principal: BOB, roles: ['qa'] });
  const [answer] = (await ended(record)).answers!;
  expect(answer).toEqual({
    key: 'input-1',
    id,
    action: 'accept',
    state: 'applied',
    at: expect.any(String),
    by: { principal: BOB, roles: ['qa'] },
  });
  const unnamed = await asking({}, 'anonymous');
  await engine.answer('anonymous', unnamed.token, 'input-1', YES);
  expect((await ended(unnamed)).answers![0]).not.toHaveProperty('by');
  const events = async (one: OperationRecord) =>
    (await temporal.workflow.getHandle(idOf(one)).fetchHistory()).events!.map(({ eventType }) => eventType);
  expect(await events(record)).toEqual(await events(unnamed));
  expect(
    JSON.stringify((await temporal.workflow.getHandle(idOf(unnamed)).fetchHistory()).events),
  ).not.toMatch(/answer\.\w{8}\./);
});

test.each([
  ['no name', {}],
  ['a name without a signature', { by: { principal: BOB } }],
  [
    'a name with a made-up signature',
    { by: { principal: BOB }, signature: `answer.00000000.${'0'.repeat(40)}.${'x'.repeat(32)}` },
  ],
])('the record has an operator who answered with %s', async (_what, claim) => {
  const record = await asking({});
  expect(
    await update(idOf(record), { key: 'input-1', answerId: 'a', answer: YES, ...claim }),
  ).toBeUndefined();
  expect((await ended(record)).answers![0]!.by).toEqual({ operator: true });
});

describe.each([0, 2])('a question for some callers, %d levels down,', (depth) => {
  const key = `${'part/'.repeat(depth)}input-1`;

  test('shows its rules, and is answered by a caller with the role who did not start it', async () => {
    const record = await asking({ depth, approvers: ['release-manager', 'admin'], fourEyes: true });
    expect(record.inputRequests[key]).toMatchObject({
      approvers: ['release-manager', 'admin'],
      fourEyes: true,
    });
    const by = (principal: string, roles: string[]) =>
      engine.answer(ALICE, record.token, key, YES, { principal, roles });
    await expect(by(ALICE, ['admin'])).rejects.toMatchObject({
      kind: 'forbidden',
      retryable: false,
      message: expect.stringMatching(
        /who did not start the operation or change its arguments may answer; acme\/alice-\S+ started it/,
      ),
    });
    await expect(by(BOB, ['qa'])).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/one of the roles release-manager, admin .* acme\/bob has qa/),
    });
    expect((await by(BOB, ['qa', 'admin'])).state).toBe('accepted');
    const { answers, result } = await ended(record);
    expect(result).toEqual({ action: 'accept' });
    expect(answers![0]!.by).toEqual({ principal: BOB, roles: ['qa', 'admin'] });
  });

  test('takes no answer from Temporal that nobody has signed, wherever it is sent', async () => {
    const record = await asking({ depth, approvers: ['admin'], fourEyes: true });
    const id = idOf(record);
    const by = { principal: BOB, roles: ['admin'] };
    const answer = { key, answerId: randomUUID(), answer: YES };
    const forged = new Signer(Buffer.alloc(32, 1)).sign('answer', id, answerDigest({ ...answer, by }));
    const elsewhere = new Signer(secret).sign('answer', 'other', answerDigest({ ...answer, by }));
    const ofAnother = new Signer(secret).sign('answer', id, answerDigest({ ...answer, by, answerId: 'b' }));
    for (const claim of [
      {},
      { by: { operator: true } },
      { by },
      { by, signature: forged },
      { by, signature: elsewhere },
      { by, signature: ofAnother },
    ]) {
      expect(await update(id, { ...answer, ...claim })).toBe('forbidden');
      const part = temporal.workflow.getHandle(`${id}${'.part'.repeat(depth)}`);
      await part.signal('provide_input', { ...answer, key: 'input-1', ...claim, isForwarded: true });
    }
    expect((await engine.read(ALICE, record.token)).status).toBe('input_required');
    await engine.answer(ALICE, record.token, key, { action: 'decline' }, by);
    expect((await ended(record)).result).toEqual({ action: 'decline' });
  });
});

test('an operator with the secret may answer any question', async () => {
  const record = await asking({ approvers: ['admin'], fourEyes: true });
  const { workflowId, input } = signAnswer(record, 'input-1', YES, secret);
  expect(await update(workflowId, input)).toBeUndefined();
  expect((await ended(record)).answers![0]!.by).toEqual({ operator: true });
});

test('without authentication nobody may answer it, and the refusal says why', async () => {
  const record = await asking({ fourEyes: true }, 'anonymous');
  await expect(engine.answer('anonymous', record.token, 'input-1', YES)).rejects.toMatchObject({
    kind: 'forbidden',
    message: expect.stringMatching(/does not know its callers: set authentication/),
  });
  await engine.cancel('anonymous', record.token);
});

test('operatorAnswers off: any question needs a signature, and takes it from callers without a name', async () => {
  const record = await asking({}, 'anonymous', strict);
  expect(await update(idOf(record), { key: 'input-1', answerId: 'a', answer: YES })).toBe('forbidden');
  expect((await strict.answer('anonymous', record.token, 'input-1', YES)).state).toBe('accepted');
  expect((await ended(record)).answers![0]).not.toHaveProperty('by');
});

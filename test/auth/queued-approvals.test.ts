/** Approvals that no worker takes for now: signatures decide which answers count, and the history's order decides between those. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { identified, signed } from '../../engine/answer/claims.js';
import { answerDigest } from '../../operations/answers.js';
import type { Answer, OperationRecord } from '../../operations/record.js';
import { workflowIdOf } from '../../operations/token.js';
import { defineTool } from '../../operations/tool/index.js';
import { loadSecret } from '../../platform/home/secret.js';
import { Signer } from '../../platform/temporal/signer.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack, type Part } from '../support/test-stack.js';

const ALICE = `acme/alice-${randomUUID()}`;
const BOB = { principal: 'acme/bob', roles: ['admin'] };
const CAROL = { principal: 'acme/carol', roles: ['admin'] };
const YES = { action: 'accept', content: { ok: true } } as const;
const NO = { action: 'decline' } as const;
const KEY = 'input-1';
const release = defineTool({
  name: 'release',
  description: { does: 'x' },
  input: { type: 'object', properties: {}, additionalProperties: true },
  estimate: { seconds: 1 },
});
const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const signer = new Signer(secret);

// Own stack: its worker is killed.
const stack = await forAllTests(TestStack.start());
const [, worker] = stack.parts as [Part, Part];
const engine = await inSetUp(connectEngine(stack.taskQueue, { tools: [release] }));
afterAllTests(() => engine.temporal.close());

/** An approval that waits. */
type Waiting = OperationRecord & { key: string; workflowId: string };

async function waiting(depth = 0): Promise<Waiting> {
  const rules = { approvers: ['admin'], fourEyes: true };
  const { token } = await engine.start(ALICE, release, { depth, ...rules });
  const record = await eventually('it asks', async () => {
    const now = await engine.read(ALICE, token);
    return now.status === 'input_required' ? now : undefined;
  });
  return {
    ...record,
    key: Object.keys(record.inputRequests)[0]!,
    workflowId: workflowIdOf(ALICE, token, secret),
  };
}

const ended = ({ token }: OperationRecord): Promise<OperationRecord> =>
  eventually('it has ended', async () => {
    const now = await engine.read(ALICE, token);
    return now.closedAt ? now : undefined;
  });

const signal = async (workflowId: string, input: object) =>
  (await stack.temporal()).workflow.getHandle(workflowId).signal('provide_input', input);

const answersIn = ({ answers = [] }: OperationRecord, state: string) =>
  answers.filter((one) => one.state === state);

/** Approvals that wait without a worker: two for approvers who race, at depths 0 and 1, and others for what is sent as signals. */
let raced: Waiting[];
let forged: Waiting;
let ordered: Waiting;
/** The answer that counts among forged ones. */
let idOfBob: string;
beforeAll(async () => {
  raced = [await waiting(0), await waiting(1)];
  [forged, ordered] = [await waiting(), await waiting()];
  await worker.end('SIGKILL');
});

test('of two approvers the first counts, at any depth', async () => {
  for (const { key, token } of raced) {
    expect(await engine.answer(ALICE, token, key, YES, BOB)).toMatchObject({ state: 'queued' });
    for (const answer of [YES, NO])
      await expect(engine.answer(ALICE, token, key, answer, CAROL)).rejects.toMatchObject({
        kind: 'wrong_state',
        message: expect.stringMatching(/already answered by acme\/bob, at /),
      });
    const now = await engine.readLive(ALICE, token);
    expect([now.status, now.inputRequests]).toEqual(['working', {}]);
    expect(JSON.stringify(now)).not.toContain('Release?');
  }
});

test('forged answers block nobody, whether they come before or after the one that counts', async () => {
  const { workflowId, token } = forged;
  const refusal = { key: KEY, answer: NO };
  const forge = async (answerId: string) => {
    const claimed = { ...refusal, answerId, by: BOB };
    const other = new Signer(Buffer.alloc(32, 1)).sign('answer', workflowId, answerDigest(claimed));
    await signal(workflowId, { ...refusal, answerId });
    await signal(workflowId, { ...refusal, answerId, by: { operator: true } });
    await signal(workflowId, { ...claimed, signature: other });
  };
  await forge('forged-1');
  const { id, state } = await engine.answer(ALICE, token, KEY, YES, BOB);
  expect(state).toBe('queued');
  // The ID is in the history now.
  await forge(id);
  await forge('forged-2');
  expect(await engine.answer(ALICE, token, KEY, YES, BOB)).toMatchObject({ id, state, wasQueued: true });
  idOfBob = id;
});

test('signed answers count in the order of the history, while each is verified in turn', async () => {
  const { workflowId, token } = ordered;
  const inputOf = (answer: Answer, by: typeof BOB) =>
    signed(signer, workflowId, identified(signer, workflowId, { key: KEY, answer, by }), {
      by,
      areAllSigned: false,
    });
  // The first has a signature of the right form, by another key.
  const bad = inputOf(YES, CAROL);
  const other = new Signer(Buffer.alloc(32, 1));
  const signature = other.sign('answer', workflowId, answerDigest({ ...bad, by: CAROL }));
  await signal(workflowId, { ...bad, signature });
  await signal(workflowId, inputOf(NO, BOB));
  await signal(workflowId, inputOf(YES, CAROL));
  await expect(engine.answer(ALICE, token, KEY, YES, CAROL)).rejects.toThrow(/by acme\/bob/);
});

test('once a worker is back, the answers count whose senders have been answered', async () => {
  stack.worker();
  for (const record of raced) {
    const end = await ended(record);
    expect([end.result, end.answers]).toMatchObject([
      { action: 'accept' },
      [{ state: 'applied', by: BOB, action: 'accept' }],
    ]);
    expect(end.answers).toHaveLength(1);
  }
  const ofForged = await ended(forged);
  expect(ofForged.result).toEqual({ action: 'accept' });
  expect(answersIn(ofForged, 'applied')).toMatchObject([{ id: idOfBob, by: BOB }]);
  const refused = answersIn(ofForged, 'refused');
  expect(refused.map(({ id }) => id).sort()).toEqual(['forged-1', 'forged-2', idOfBob].sort());
  expect(refused.map(({ by }) => by)).toEqual(refused.map(() => ({ operator: true })));

  const ofOrdered = await ended(ordered);
  expect(ofOrdered.result).toEqual({ action: 'decline' });
  expect(answersIn(ofOrdered, 'applied').map(({ by }) => by)).toEqual([BOB]);
  expect(answersIn(ofOrdered, 'refused').map(({ reason }) => reason)).toEqual([
    expect.stringContaining('has been answered'),
  ]);
});

/** Questions, cancelled calls and sessions, at two servers. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sealOf } from '../../platform/home/seal.js';
import { loadSecret } from '../../platform/home/secret.js';
import { secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import {
  AsyncClient,
  type Answer,
  connectSession,
  connectStateless,
  OPTED_IN,
  WITH_FORMS,
} from './client.js';

const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;
const { url: other } = await inSetUp(secondServer(parts));

const yes = (token: string | undefined) => ({
  action: 'accept',
  content: { go: true },
  ...(token === undefined ? {} : { _operation: { token } }),
});
const questionsIn = (messages: any[]) => messages.filter(({ method }) => method === 'elicitation/create');

test('200 callers that race to start the same token get one operation, one success and 199 clear refusals', async () => {
  const clients = [connectStateless(url), connectStateless(other)].map((wire) => new AsyncClient(wire));
  const ledger = join(mkdtempSync(join(tmpdir(), 'longhaul-race-')), 'ledger');
  const token = randomUUID();
  const call = (index: number) =>
    clients[index % 2]!.call('expensive_analysis', { dataset: 'same', ledger }, { token });
  const isUnavailable = ({ error }: Answer) => error?.code === -32603 && error.data?.retryable;
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_none, index) => {
      const answer = await call(index);
      // On a busy machine Temporal may not answer in time. The operation may have been started even so.
      return isUnavailable(answer) ? { ...(await call(index)), isRepeated: true } : answer;
    }),
  );
  const started = answers.filter(({ result }) => result);
  if (answers.some((answer) => 'isRepeated' in answer)) expect(started.length).toBeLessThanOrEqual(1);
  else expect(started).toHaveLength(1);
  for (const { result } of started) expect(result.operation.token).toBe(token);
  const refused = answers.filter(({ error }) => error);
  expect(refused).toHaveLength(200 - started.length);
  for (const { error } of refused)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('never used') });
  await clients[0]!.until(token, ['completed']);
  expect(readFileSync(ledger, 'utf8')).toBe('ran\n');
});

describe('a question', () => {
  /** Starts work that asks. */
  async function ask(packages = ['left-pad'], isListening = false) {
    const wire = await connectSession(url, WITH_FORMS);
    const close = isListening ? await wire.listen() : () => undefined;
    const client = new AsyncClient(wire);
    const { token } = await client.start('migrate_code', { packages });
    return { wire, client, token, close };
  }

  test('comes on the own stream of the session, carries the token, and its answer lets the work continue', async () => {
    const { wire, client, token } = await ask(['left-pad'], true);
    const [question] = await eventually('it asks', () => {
      const found = questionsIn(wire.messages);
      return found.length ? found : undefined;
    });
    expect(question.params).toMatchObject({
      message: 'Migrate left-pad?',
      requestedSchema: { properties: { go: { type: 'boolean' } } },
      _operation: { token },
    });
    expect((await client.status(token)).result.status).toBe('input_required');
    expect(await wire.respond(question.id, yes(token))).toEqual({ status: 202 });
    await client.until(token, ['completed']);
    expect((await client.result(token)).result.result.structuredContent).toEqual({ migrated: ['left-pad'] });
    expect(questionsIn(wire.messages)).toHaveLength(1);
    await wire.close();
  });

  test('comes with the next status where the session has no stream, once', async () => {
    const { wire, client, token } = await ask();
    const asked = await eventually('it asks', async () => {
      const { result, before } = await client.status(token);
      if (result.status === 'input_required') return { result, before };
      expect(before).toEqual([]);
      return undefined;
    });
    const [question] = questionsIn(asked.before);
    expect(question.params._operation).toEqual({ token });
    expect((await client.status(token)).before).toEqual([]);
    await wire.respond(question.id, yes(token));
    await client.until(token, ['completed']);
  });

  test('stays open, and the operation input_required, until none is pending', async () => {
    const { wire, client, token } = await ask(['a', 'b'], true);
    const questions = await eventually('it asks both', () => {
      const found = questionsIn(wire.messages);
      return found.length === 2 ? found : undefined;
    });
    await wire.respond(questions[0].id, yes(token));
    const { result } = await client.status(token);
    expect(result.status).toBe('input_required');
    expect(Object.keys(result.inputRequests)).toHaveLength(1);
    await wire.respond(questions[1].id, yes(token));
    await client.until(token, ['completed']);
    await wire.close();
  });

  test.each([
    ['without the token', undefined, 'nothing'],
    ['with another one', 'other', '"other"'],
  ])(
    'is not answered by a response %s; it comes again, and can still be answered',
    async (_how, wrong, got) => {
      const { wire, client, token } = await ask(['left-pad'], true);
      const [question] = await eventually('it asks', () => {
        const found = questionsIn(wire.messages);
        return found.length ? found : undefined;
      });
      expect(await wire.respond(question.id, yes(wrong))).toMatchObject({
        status: 400,
        error: { code: -32602, message: expect.stringMatching(new RegExp(`_operation.token.*${got}`)) },
      });
      const { result, before } = await client.status(token);
      expect(result.status).toBe('input_required');
      expect(questionsIn(before)).toHaveLength(1);
      await wire.respond(question.id, yes(token));
      await client.until(token, ['completed']);
      await wire.close();
    },
  );

  test('is named by the status, and operation_answer answers it, in both revisions', async () => {
    for (const wire of [connectStateless(url), await connectSession(url)]) {
      const client = new AsyncClient(wire);
      const { token } = await client.start('migrate_code', { packages: ['left-pad'] });
      const { statusMessage, inputRequests } = await client.until(token, ['input_required']);
      const [[key, { message }]] = Object.entries(inputRequests) as any;
      expect(message).toBe('Migrate left-pad?');
      expect(statusMessage).toContain(`operation_answer ${JSON.stringify({ token, key })}`);
      await new AsyncClient(wire).call('operation_answer', { token, key, content: { go: true } });
      await client.until(token, ['completed']);
    }
  });
});

describe('notifications/cancelled for the original call', () => {
  const start = async (client: AsyncClient) => {
    const { id, result } = await client.call('expensive_analysis', { dataset: 'a', seconds: 300 });
    return { id, token: result.operation.token as string };
  };
  const isRunning = async (client: AsyncClient, token: string) =>
    ['submitted', 'working'].includes((await client.status(token)).result.status);

  test('cancels the operation at once, and later requests with its token say so', async () => {
    const wire = await connectSession(url);
    const client = new AsyncClient(wire);
    const { id, token } = await start(client);
    expect(await wire.notify('notifications/cancelled', { requestId: id, reason: 'changed my mind' })).toBe(
      202,
    );
    expect((await client.status(token)).result.status).toBe('canceled');
    expect((await client.result(token)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(
        /^Failed to retrieve operation: Operation is canceled(; being cancelled|$)/,
      ),
      data: { status: 'canceled' },
    });
    expect((await client.call('expensive_analysis', { dataset: 'a' }, { token })).error?.code).toBe(-32602);
    const handle = (await parts.temporal()).workflow.getHandle(token);
    await eventually('Temporal has cancelled it', async () => {
      return (await handle.describe()).status.name === 'CANCELLED';
    });
    expect((await client.status(token)).result.statusMessage).toContain('changed my mind');
  });

  test('is understood by another server', async () => {
    const wire = await connectSession(url);
    const client = new AsyncClient(wire);
    const { id, token } = await start(client);
    wire.at(other);
    await wire.notify('notifications/cancelled', { requestId: id });
    await client.until(token, ['canceled']);
  });

  test('names the operation itself where it carries the token', async () => {
    const wire = await connectSession(url);
    const client = new AsyncClient(wire);
    const { id, token } = await start(client);
    wire.at(other);
    await wire.notify('notifications/cancelled', { requestId: id, _operation: { token } });
    expect((await client.status(token)).result.status).toBe('canceled');
  });

  test('needs the token where there is no session', async () => {
    const wire = connectStateless(url);
    const client = new AsyncClient(wire);
    const { id, token } = await start(client);
    await wire.notify('notifications/cancelled', { requestId: id });
    expect(await isRunning(client, token)).toBe(true);
    await wire.notify('notifications/cancelled', { requestId: id, _operation: { token } });
    expect((await client.status(token)).result.status).toBe('canceled');
  });

  test("is not one for another client's call with the same ID, nor for another request about the operation", async () => {
    const mine = await connectSession(url);
    const theirs = await connectSession(url);
    const client = new AsyncClient(mine);
    const { id, token } = await start(client);
    await theirs.notify('notifications/cancelled', { requestId: id });
    const { id: statusId } = await client.status(token);
    await mine.notify('notifications/cancelled', { requestId: statusId, _operation: { token } });
    await mine.notify('notifications/cancelled', { requestId: statusId });
    expect(await isRunning(client, token)).toBe(true);
    await mine.notify('notifications/cancelled', { requestId: id });
    await client.until(token, ['canceled']);
  });

  test('never cancels work of the other protocols', async () => {
    const taskId = await parts.client.start('expensive_analysis', { dataset: 'a', seconds: 300 });
    const plain = await connectSession(url, {});
    const call = { name: 'expensive_analysis', arguments: { dataset: 'b', seconds: 300, wait: false } };
    const { id, result } = await plain.request('tools/call', call);
    const opted = await connectSession(url, OPTED_IN, '2025-11-25');
    const task = await opted.request('tools/call', { ...call, task: {} });
    const tokens = [taskId, result.structuredContent.token, task.result.task.taskId];
    for (const wire of [plain, opted])
      for (const requestId of [id, task.id])
        for (const token of tokens)
          await wire.notify('notifications/cancelled', { requestId, _operation: { token } });
    await opted.notify('notifications/cancelled', { requestId: task.id });
    const client = new AsyncClient(opted);
    for (const token of tokens) {
      expect(await isRunning(client, token)).toBe(true);
      await new AsyncClient(opted).call('operation_cancel', { token });
    }
  });
});

describe('a session', () => {
  const sealed = (endsAt: number, nonce: string) =>
    sealOf(secret, 'session').seal({
      version: '2025-06-18',
      elicitation: false,
      asyncTools: true,
      twoStage: false,
      clientName: 'x',
      principal: 'anonymous',
      nonce,
      endsAt,
    });

  test('lives as long as what it has started, and no longer', async () => {
    const wire = await connectSession(url);
    const client = new AsyncClient(wire);
    const nonce = randomUUID();
    wire.id = sealed(Date.now() + 60_000, nonce);
    const { token } = await client.start('deep_analysis', {}, { keepAlive: 8 });
    wire.id = sealed(Date.now() - 1, nonce);
    const { result } = await eventually('it is served', async () => {
      const answer = await client.status(token);
      return answer.result ? answer : undefined;
    });
    expect(result.status).toEqual(expect.any(String));
    await eventually('it has ended', async () => (await client.status(token)).error?.code === -32001);
  });
});

/** A client with both opt-ins: its operations (SEP-1391) send the notifications of two-stage jobs. */
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { HttpClient, notificationsOf } from '../two-stage/client.js';
import { AsyncClient, connectStateless } from './client.js';

const BOTH = { experimental: { asyncTools: {}, twoStage: {} } };
const BOTH_WITH_FORMS = { ...BOTH, elicitation: {} };

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

async function listening(capabilities: object = BOTH): Promise<HttpClient> {
  const client = await HttpClient.open(url, { capabilities });
  await client.listen();
  return client;
}

async function start(
  client: Pick<HttpClient, 'request'>,
  name: string,
  args: object,
  more: object = {},
): Promise<string> {
  const { result, error } = await client.request('tools/call', { name, arguments: args, ...more });
  if (!result?.operation) throw new Error(JSON.stringify(error ?? result));
  return result.operation.token;
}

const resultOf = (client: HttpClient, token: string) =>
  eventually(`the result of ${token}`, () => notificationsOf(client, token).results[0]);
const questionsOf = (client: Pick<HttpClient, 'notifications'>) =>
  client.notifications.filter(({ method }) => method === 'elicitation/create');

test("on the session's own stream, an operation has progress and its result notified, with its token and once", async () => {
  const client = await listening();
  const token = await start(
    client,
    'expensive_analysis',
    { dataset: 'a', seconds: 4 },
    { _meta: { progressToken: 'p' } },
  );
  const { result, _operation } = await resultOf(client, token);
  expect(_operation).toEqual({ token });
  expect(result).toMatchObject({ success: true, job_id: token, data: { dataset: 'a', rows: 512 } });
  const { progress, results } = notificationsOf(client, token);
  expect(results).toHaveLength(1);
  expect(progress.length).toBeGreaterThan(0);
  for (const params of progress) expect(params).toMatchObject({ _operation: { token } });
  expect(progress[0]).toMatchObject({ progressToken: 'p', total: 1 });
  // Each is notified once, and only in the combined form of both opt-ins.
  const all = client.notifications.filter(({ method }) => method === 'notifications/progress');
  expect(all).toHaveLength(progress.length);
  const collected = await client.request('tools/async/result', { token });
  expect(collected.result.result.structuredContent).toEqual(result.structuredContent);
  await client.close();
});

test("on the session's own stream, an operation asks with its token, whose answer has to carry it", async () => {
  const client = await listening(BOTH_WITH_FORMS);
  const token = await start(client, 'migrate_code', { packages: ['left-pad'] });
  const question = await eventually('it asks', () => questionsOf(client)[0]);
  expect(question.params).toMatchObject({ message: 'Migrate left-pad?', _operation: { token } });
  const yes = { action: 'accept', content: { go: true } };
  expect(await client.respond(question.id, yes)).toBe(400);
  expect(await client.respond(question.id, { ...yes, _operation: { token } })).toBe(202);
  expect((await resultOf(client, token)).result.data).toEqual({ migrated: ['left-pad'] });
  await client.close();
});

test('in 2026-07-28 subscriptions/listen follows it by jobIds, with its token', async () => {
  const client = new AsyncClient(connectStateless(url, BOTH));
  const { token } = await client.start('expensive_analysis', { dataset: 'b', seconds: 3 });
  const subscription = await parts.client.with(BOTH).listen({ jobIds: [token] });
  const { messages } = subscription;
  const notified = await eventually('the result', () =>
    messages.find(({ method }) => method === 'notifications/tool_result'),
  );
  expect(messages[0].params.notifications).toEqual({ jobIds: [token] });
  expect(notified.params).toMatchObject({
    job_id: token,
    result: { success: true, data: { dataset: 'b' } },
    _operation: { token },
  });
  const progress = messages.filter(({ method }) => method === 'notifications/progress');
  expect(progress.length).toBeGreaterThan(0);
  for (const { params } of progress) expect(params).toMatchObject({ job_id: token, _operation: { token } });
  subscription.close();
});

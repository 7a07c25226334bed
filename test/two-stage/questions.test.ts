/** Questions of jobs: the field `questions`, and forms for clients with elicitation. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { complete, HttpClient, notificationsOf, OPT_IN, poll, start, type TwoStageClient } from './client.js';

const WITH_FORMS = { ...OPT_IN, elicitation: {} };

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

type Requester = Pick<TwoStageClient, 'request'>;

const opened: TwoStageClient[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
});
async function connect(capabilities: object = OPT_IN): Promise<HttpClient> {
  const client = await HttpClient.open(url, { capabilities });
  opened.push(client);
  return client;
}

const asking = (by: Requester, jobId: string, count = 1) =>
  eventually('it asks', async () => {
    const { data } = await poll(by, jobId);
    return data.questions?.length === count && data;
  });
/** Sends the request in a question's `answer_with`. */
const answer = (by: Requester, { answer_with: { method, params } }: any, content: object) =>
  by.request(method, { ...params, arguments: { ...params.arguments, content } });
const formsOf = (client: TwoStageClient, jobId: string) =>
  client.notifications.filter(
    ({ method, params }) => method === 'elicitation/create' && params.job_id === jobId,
  );

const REVISIONS: [string, (capabilities?: object) => Promise<Requester>][] = [
  ['2025-11-25', connect],
  ['2026-07-28', async (capabilities = OPT_IN) => parts.client.with(capabilities)],
];

describe.each(REVISIONS)('tools/poll_result of %s', (_revision, open) => {
  test('has the open question in a field of its own, with the request that answers it', async () => {
    const by = await open();
    const jobId = await start(by, 'confirm_delete', { filename: 'old.csv' });
    const data = await asking(by, jobId);
    expect(data).toMatchObject({ job_id: jobId, status: 'running' });
    const [question] = data.questions;
    expect(question).toEqual({
      key: expect.any(String),
      message: 'Delete old.csv?',
      schema: expect.objectContaining({
        type: 'object',
        properties: { confirm: expect.objectContaining({ type: 'boolean' }) },
      }),
      answer_with: {
        method: 'tools/call',
        params: { name: 'operation_answer', arguments: { token: jobId, key: question.key } },
      },
    });
    const { result } = await answer(by, question, { confirm: true });
    expect(result.isError).toBeFalsy();
    const after = await complete(by, jobId);
    expect(after.result.data).toEqual({ answer: 'accept', deleted: ['old.csv'] });
    expect(after).not.toHaveProperty('questions');
  });

  test('has all open questions, and no longer those that were answered', async () => {
    const by = await open();
    const jobId = await start(by, 'multi_input');
    const { questions } = await asking(by, jobId, 2);
    expect(questions.map(({ message }: any) => message).sort()).toEqual(['The first?', 'The second?']);
    await answer(by, questions[0], { name: 'Ada' });
    const { questions: left } = await asking(by, jobId);
    expect(left).toEqual([questions[1]]);
    await answer(by, left[0], { name: 'Grace' });
    await complete(by, jobId);
  });

  test('has no question once the job is being cancelled', async () => {
    const by = await open();
    const jobId = await start(by, 'confirm_delete', { filename: 'old.csv' });
    await asking(by, jobId);
    await by.request('tools/cancel_job', { job_id: jobId });
    expect((await poll(by, jobId)).data).not.toHaveProperty('questions');
  });
});

test('a repeated call whose job asks has its question at once', async () => {
  const by = await connect();
  const args = { filename: 'old.csv', idempotency_key: `asks-${Date.now()}` };
  const jobId = await start(by, 'confirm_delete', args);
  const { questions } = await asking(by, jobId);
  const { result } = await by.request('tools/call', { name: 'confirm_delete', arguments: args });
  expect(result.data).toMatchObject({ job_id: jobId, questions });
  expect(result.structuredContent.data).toEqual(result.data);
  await by.request('tools/cancel_job', { job_id: jobId });
});

test('notifications/progress of a subscription of 2026-07-28 has them too', async () => {
  const by = parts.client.with(WITH_FORMS);
  const jobId = await start(by, 'confirm_delete', { filename: 'old.csv' });
  const subscription = await by.listen({ jobIds: [jobId] });
  const asked = await eventually('it asks', () =>
    subscription.messages.find(({ params }) => params?.questions),
  );
  expect(asked).toMatchObject({ method: 'notifications/progress', params: { job_id: jobId } });
  await answer(by, asked.params.questions[0], { confirm: false });
  await eventually('it ends', () =>
    subscription.messages.find(({ method }) => method === 'notifications/tool_result'),
  );
  subscription.close();
});

test("a client with elicitation is asked on the session's own stream, once, and its answer lets the job continue", async () => {
  const client = await connect(WITH_FORMS);
  await client.listen();
  const jobId = await start(client, 'confirm_delete', { filename: 'old.csv' });
  const form = await eventually('it asks', () => formsOf(client, jobId)[0]);
  expect(form.params).toMatchObject({
    mode: 'form',
    message: 'Delete old.csv?',
    requestedSchema: { properties: { confirm: { type: 'boolean' } } },
  });
  expect((await poll(client, jobId)).data.questions).toHaveLength(1);
  expect(await client.respond(form.id, { action: 'accept', content: { confirm: true } })).toBe(202);
  const { result } = await eventually('it ends', () => notificationsOf(client, jobId).results[0]);
  expect(result.data).toEqual({ answer: 'accept', deleted: ['old.csv'] });
  expect(formsOf(client, jobId)).toHaveLength(1);
});

test('a client with elicitation without a stream is asked with its next poll, once, and answers at another server', async () => {
  const other = await secondServer(parts);
  const client = await connect(WITH_FORMS);
  const jobId = await start(client, 'confirm_delete', { filename: 'old.csv' });
  const form = await eventually('it asks', async () => {
    await poll(client, jobId);
    return formsOf(client, jobId)[0];
  });
  await poll(client, jobId);
  expect(formsOf(client, jobId)).toHaveLength(1);
  client.url = other.url;
  await client.respond(form.id, { action: 'decline' });
  expect((await complete(client, jobId)).result.data).toEqual({ answer: 'decline', deleted: [] });
});

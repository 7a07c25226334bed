/** Notifications on sessions' streams and subscriptions, across processes. */
import { describe, expect, test } from '@jest/globals';
import { secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { complete, HttpClient, notificationsOf, start, type TwoStageClient } from './client.js';

const TWO_STAGE = { experimental: { twoStage: {} } };

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;
const other = await inSetUp(secondServer(parts));

const resultOf = (client: TwoStageClient, jobId: string) =>
  eventually(`the result of ${jobId}`, () => notificationsOf(client, jobId).results[0]);
async function listening(at = url): Promise<HttpClient> {
  const client = await HttpClient.open(at);
  await client.listen();
  return client;
}

describe("a session's stream", () => {
  test('delivers results once, also those missed, whichever process serves it', async () => {
    const client = await listening();
    const delivered = await start(client, 'slow_compute', { seconds: 0 });
    await resultOf(client, delivered);
    const missed = await start(client, 'slow_compute', { seconds: 2 });
    await eventually('progress comes', () => notificationsOf(client, missed).progress[0]);
    client.drop();
    await complete(client, missed);
    expect(notificationsOf(client, missed).results).toEqual([]);
    client.url = other.url;
    await client.listen();
    await resultOf(client, missed);
    const later = await start(client, 'slow_compute', { seconds: 0 });
    await resultOf(client, later);
    client.drop();
    client.url = url;
    await client.listen();
    const last = await start(client, 'slow_compute', { seconds: 0 });
    await resultOf(client, last);
    for (const jobId of [delivered, missed, later, last])
      expect([jobId, notificationsOf(client, jobId).results.length]).toEqual([jobId, 1]);
    await client.close();
  });

  test('resumes progress where it was', async () => {
    const client = await listening();
    const jobId = await start(client, 'slow_compute', { seconds: 10 });
    const shares = () => notificationsOf(client, jobId).progress.map(({ progress }) => progress);
    await eventually('some progress comes', () => shares().some((share) => share > 0));
    client.drop();
    const before = shares().length;
    client.url = other.url;
    await client.listen();
    await eventually('more comes', () => shares().length > before);
    await resultOf(client, jobId);
    expect([...shares()].sort((a, b) => a - b)).toEqual(shares());
    await client.close();
  });

  test('of 2025-06-18, which has no events without data, also delivers what was missed', async () => {
    const client = await HttpClient.open(url, { version: '2025-06-18' });
    await client.listen();
    const jobId = await start(client, 'slow_compute', { seconds: 1 });
    await eventually('it has come so far', () => client.lastEventId);
    client.drop();
    await complete(client, jobId);
    await client.listen();
    await resultOf(client, jobId);
    await client.close();
  });

  test("does not notify of another session's jobs, and refuses their event IDs", async () => {
    const [one, two] = [await listening(), await listening()];
    const jobId = await start(one, 'slow_compute', { seconds: 0 });
    await resultOf(one, jobId);
    const own = await start(two, 'slow_compute', { seconds: 0 });
    await resultOf(two, own);
    expect(notificationsOf(two, jobId)).toEqual({ progress: [], results: [] });
    two.drop();
    two.lastEventId = one.lastEventId;
    await expect(two.listen()).rejects.toThrow('GET 400');
    await Promise.all([one.close(), two.close()]);
  });

  test('marks progress with the progress token of a call that gave one, so that it is one of MCP too', async () => {
    const client = await listening();
    const jobId = await start(client, 'slow_compute', { seconds: 1 }, { _meta: { progressToken: 'p1' } });
    await resultOf(client, jobId);
    expect(notificationsOf(client, jobId).progress[0]).toMatchObject({ progressToken: 'p1', total: 1 });
    await client.close();
  });

  test("is MCP's only as it rises: a question without more progress comes without the token", async () => {
    const client = await listening();
    const jobId = await start(
      client,
      'confirm_delete',
      { filename: 'p2' },
      { _meta: { progressToken: 'p2' } },
    );
    const delivered = () => notificationsOf(client, jobId).progress;
    await eventually('it asks', () => delivered().some(({ questions }: any) => questions?.length));
    await complete(client, await start(client, 'slow_compute', { seconds: 0 }));
    await client.request('tools/cancel_job', { job_id: jobId });
    await resultOf(client, jobId);
    const marked = delivered().filter(({ progressToken }: any) => progressToken === 'p2');
    const shares: number[] = marked.map(({ progress }: any) => progress);
    expect(shares.length).toBeGreaterThan(0);
    expect(shares).toEqual([...new Set(shares)].sort((a, b) => a - b));
  });
});

describe('subscriptions/listen of 2026-07-28', () => {
  const current = () => parts.client.with(TWO_STAGE);
  const of = (messages: any[], method: string) => messages.filter((one) => one.method === method);

  test('has a filter for jobs: progress, and the result once', async () => {
    const client = current();
    const jobId = await start(client, 'slow_compute', { seconds: 3 });
    const subscription = await client.listen({ jobIds: [jobId, 'nonesuch'] });
    const { messages } = subscription;
    await eventually('the result comes', () => of(messages, 'notifications/tool_result')[0]);
    expect(messages[0].params.notifications).toEqual({ jobIds: [jobId] });
    const progress = of(messages, 'notifications/progress');
    expect(progress.length).toBeGreaterThan(1);
    const [result, ...more] = of(messages, 'notifications/tool_result');
    expect(more).toEqual([]);
    expect(result.params).toMatchObject({ job_id: jobId, result: { success: true, job_id: jobId } });
    for (const { params } of messages)
      expect(params._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': expect.anything() });
    subscription.close();
  });

  test('delivers at once what has ended before', async () => {
    const client = current();
    const jobId = await start(client, 'slow_compute', { seconds: 0 });
    await complete(client, jobId);
    const subscription = await new WireClient(other.url, TWO_STAGE).listen({ jobIds: [jobId] });
    const { messages } = subscription;
    await eventually('the result comes', () => of(messages, 'notifications/tool_result')[0]);
    expect(of(messages, 'notifications/progress')).toEqual([]);
    subscription.close();
  });

  test('needs the opt-in, and checks the IDs', async () => {
    const refused = await parts.client.request('subscriptions/listen', { notifications: { jobIds: ['a'] } });
    expect(refused).toMatchObject({
      httpStatus: 400,
      error: { code: -32021, data: { requiredCapabilities: { experimental: { twoStage: {} } } } },
    });
    const wrong = await current().request('subscriptions/listen', { notifications: { jobIds: [7] } });
    expect(wrong.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.notifications.jobIds.0'),
    });
  });
});

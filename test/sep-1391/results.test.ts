/** Statuses and results of SEP-1391's operations, from submitted to expired. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, connectSession } from './client.js';
import { REVISIONS } from './support.js';

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

describe.each(REVISIONS)('in %s', (_revision, connectTo) => {
  const connect = (capabilities?: object) => connectTo(url, capabilities);
  const opted = async () => new AsyncClient(await connect());

  test('keepAlive is answered with its final value, which what Temporal keeps bounds', async () => {
    const client = await opted();
    const keepAlives = [60, 0.5, 1e300, null, undefined, 59.1];
    const given = await Promise.all(
      keepAlives.map(async (keepAlive) => {
        const { keepAlive: final } = await client.start('deep_analysis', {}, { keepAlive });
        return final;
      }),
    );
    const [, , bound] = given;
    expect(bound).toBeGreaterThanOrEqual(24 * 3600);
    expect(given).toEqual([60, 1, bound, bound, Math.min(bound, 24 * 3600), 60]);
  });

  test('a result can be fetched again and again, and by another client', async () => {
    const client = await opted();
    const { token } = await client.start('expensive_analysis', { dataset: 'c' });
    await client.until(token, ['completed']);
    const first = (await client.result(token)).result;
    expect((await client.result(token)).result).toEqual(first);
    expect((await (await opted()).result(token)).result).toEqual(first);
  });

  test('once keepAlive has passed the operation is failed, and has expired', async () => {
    const client = await opted();
    const { token } = await client.start('deep_analysis', {}, { keepAlive: 1 });
    await client.until(token, ['completed']);
    expect(await client.until(token, ['failed'])).toMatchObject({ error: 'Operation has expired' });
    expect((await client.result(token)).error).toMatchObject({
      code: -32602,
      message: 'Failed to retrieve operation: Operation has expired',
      data: { status: 'failed' },
    });
  });

  test('a running operation is submitted, then working; its result is asked for too early', async () => {
    const client = await opted();
    const { token, status } = await client.start('expensive_analysis', { dataset: 'd', seconds: 60 });
    expect(status).toBe('submitted');
    const working = await client.until(token, ['working']);
    expect(working).not.toHaveProperty('error');
    expect((await client.result(token)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Failed to retrieve operation: Operation is working/),
      data: { status: 'working' },
    });
    await client.call('operation_cancel', { token });
    await client.until(token, ['canceled']);
  });

  test.each([
    ['fails', 'the second part went wrong'],
    ['is_late', 'longer than its maximum'],
  ])('work that %s is failed, says why, and its result too', async (how, why) => {
    const client = await opted();
    const { token } = await client.start('ends_badly', { how });
    expect(await client.until(token)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(why),
    });
    const { result } = (await client.result(token)).result;
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toMatch(new RegExp(`${why}[^]*first part`));
  });

  test('what can not be read is unknown', async () => {
    const client = await opted();
    const letter = randomUUID();
    const { token } = await client.start('long_letter', { letter, copies: 10_000 });
    const handle = (await parts.temporal()).workflow.getHandle(token);
    await eventually('it has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
    // Simulates a stored result that was deleted by mistake.
    const stored = join(process.env['LONGHAUL_HOME']!, 'storage');
    for (const name of readdirSync(stored, { recursive: true, withFileTypes: true })) {
      const path = join(name.parentPath, name.name);
      // Other tests store files of gigabytes.
      if (name.isFile() && statSync(path).size < 2 ** 24 && readFileSync(path).includes(letter)) rmSync(path);
    }
    const { result } = await client.status(token);
    expect(result).toMatchObject({ status: 'unknown', _operation: { token } });
    expect((await client.result(token)).error?.code).toBe(-32603);
  });
});

test('progress comes on the own stream of a session that asked for it, with the token', async () => {
  const wire = await connectSession(url);
  const client = new AsyncClient(wire);
  await wire.listen();
  const { result } = await client.call('expensive_analysis', { dataset: 'f', seconds: 6 }, undefined, {
    _meta: { progressToken: 'p' },
  });
  const { token } = result.operation;
  const progress = await eventually('there is progress', () => {
    const notified = wire.messages.filter(({ method }) => method === 'notifications/progress');
    return notified.length >= 2 ? notified : undefined;
  });
  for (const { params } of progress)
    expect(params).toMatchObject({ progressToken: 'p', total: 6, _operation: { token } });
  // A notification has no ID.
  expect((await client.status(token)).result.status).not.toBe('input_required');
  await client.until(token);
  await wire.close();
});

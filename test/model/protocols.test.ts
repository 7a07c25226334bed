/** The clients of `test/support/protocols`: each drives an operation through all of its calls, and all read the same one alike. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { protocolClients, Refused, untilOver, untilReading } from '../support/protocols/index.js';
import { request, session } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';

const UNKNOWN = '0123456789abcdef0123456789abcdef';

const stack = await forAllTests(TestStack.shared());
const clients = protocolClients(stack.base);

const clientOf = (name: string) => clients.find((client) => client.name === name)!;
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof Refused ? error.kind : error),
  );

test.each(protocolClients('').map(({ name }) => [name] as const))(
  '%s starts, shows, answers, collects and cancels operations, and knows no others',
  async (name) => {
    const client = clientOf(name);
    const key = randomUUID();
    const token = await client.start('confirm_delete', { filename: 'a.txt' }, key);
    expect(await client.start('confirm_delete', { filename: 'a.txt' }, key)).toBe(token);
    expect(await refusal(client.start('confirm_delete', { filename: 'b.txt' }, key))).toBe('conflict');
    const asking = await untilReading(client, 'it asks', token, ({ questions }) => questions.length);
    expect(asking.states).toContain('input_required');
    expect(asking.isOver).toBe(false);
    expect(asking.questions).toMatchObject([{ key: 'input-1', message: 'Delete a.txt?' }]);
    expect([undefined, 'accepted']).toContain(await client.answer(token, 'input-1', { confirm: true }));
    const done = await eventually('it is over', async () => {
      const reading = client.wait ? await client.wait(token, 10) : await client.read(token);
      return reading?.isOver ? reading : undefined;
    });
    expect(done.states).toEqual(['completed']);
    expect(done.result).toEqual({ answer: 'accept', deleted: ['a.txt'] });
    expect(await client.read(token)).toEqual(done);
    expect([undefined, false]).toContain(await client.cancel(token));

    const open = await client.start('slow_compute', { seconds: 60 }, randomUUID());
    expect([undefined, true]).toContain(await client.cancel(open));
    const canceled = await untilOver(client, open);
    expect(canceled.states).toContain('canceled');
    expect([undefined, true]).toContain(await client.cancel(open));

    expect(await client.read(UNKNOWN)).toBeUndefined();
    expect(await refusal(client.answer(UNKNOWN, 'input-1', {}))).toBe('not_found');
    expect(await refusal(client.cancel(UNKNOWN))).toBe('not_found');
    if (client.resume) expect(await refusal(client.resume(UNKNOWN))).toBe('not_found');
  },
);

test('a session that the server does not know is opened again', async () => {
  const rpc = session(`${stack.base}/mcp`, '2025-11-25', {});
  (await rpc.open()).session = 'unknown';
  const { tools } = await request(rpc, 'tools/list', {});
  expect(tools.length).toBeGreaterThan(0);
});

test('all protocols read one operation alike', async () => {
  const [first] = clients;
  const token = await first!.start('slow_compute', { seconds: 0, label: 'alike' }, randomUUID());
  for (const client of clients) {
    const reading = await untilOver(client, token);
    expect([client.name, reading.states, reading.result]).toEqual([
      client.name,
      ['completed'],
      { primes: expect.any(Number), label: 'alike' },
    ]);
  }
});

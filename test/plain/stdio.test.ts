import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { StdioServers } from '../support/stdio-servers.js';

const client = new WireClient('', {});
const stdio = await forAllTests(StdioServers.open());
const run = stdio.run();

const cancelRequest = (requestId: string) =>
  run.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

function send(id: string, name: string, args: object): void {
  run.send({ ...client.envelope('tools/call', { name, arguments: args }), id });
}

async function call(id: string, name: string, args: object): Promise<any> {
  send(id, name, args);
  const { result } = await eventually(`an answer to ${id}`, () =>
    run.messages().find((message) => message.id === id),
  );
  return result.structuredContent;
}

test('a cancelled request ends its wait alone, and one that has been answered is past cancelling', async () => {
  const args = { seconds: 3, idempotency_key: randomUUID() };
  const { token } = await call('start', 'slow_compute', { ...args, wait: false });
  send('wait', 'slow_compute', { ...args, wait: true });
  // Messages are handled in order.
  expect(await call('look', 'operation_get', { token })).toHaveProperty('status');
  cancelRequest('wait');
  cancelRequest('start');
  const done = await call('end', 'operation_get', { token, wait: true });
  expect(done).toMatchObject({ token, status: 'completed' });
  expect(run.messages().map(({ id }) => id)).not.toContain('wait');
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';

jest.setTimeout(STACK_MS);

const client = new WireClient('', {});
let stdio: StdioServers;
let run: StdioProcess;
beforeAll(async () => {
  stdio = await StdioServers.open();
  run = stdio.run();
});
afterAll(() => stdio?.stop());

const write = (message: object) => void run.process.stdin!.write(`${JSON.stringify(message)}\n`);
const cancelRequest = (requestId: string) =>
  write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

function send(id: string, name: string, args: object): void {
  write({ ...client.envelope('tools/call', { name, arguments: args }), id });
}

const messages = (): any[] =>
  run
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

async function call(id: string, name: string, args: object): Promise<any> {
  send(id, name, args);
  const { result } = await eventually(`an answer to ${id}`, () =>
    messages().find((message) => message.id === id),
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
  expect(messages().map(({ id }) => id)).not.toContain('wait');
});

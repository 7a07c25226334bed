import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { startEmbeddedTemporal } from '../../stack/temporal/server.js';
import { loadSettings } from '../../platform/settings/index.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/test-stack.js';
import { eventually, freePort, TestHome, type CommandRun } from './cli-process.js';

jest.setTimeout(STACK_MS);

let home: TestHome;
let run: CommandRun;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

const envelopes = new WireClient('', {});

function send(method: string, params: object = {}): void {
  run.process.stdin!.write(`${JSON.stringify({ ...envelopes.envelope(method, params), id: method })}\n`);
}

const answerTo = (id: string): any =>
  run
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .find((message) => message.id === id);
const answered = (id: string) =>
  eventually(
    () => `an answer to ${id}; ${run.stderr()}`,
    () => answerTo(id),
  );

const CALL = { name: 'slow_compute', arguments: { seconds: 1, wait: false } };

test('stdio answers server/discover while the stack starts, and the first call once Temporal is there', async () => {
  run = home.run(['stdio'], { LONGHAUL_PROJECT: FIXTURES });
  send('tools/call', CALL);
  send('server/discover');
  send('tools/list');
  expect((await answered('server/discover')).result.capabilities).toHaveProperty('tools');
  expect((await answered('tools/list')).result.tools).not.toEqual([]);
  const { result } = await answered('tools/call');
  expect(result.structuredContent).toMatchObject({ status: 'queued', token: expect.any(String) });
  await eventually('the stack is ready', () => home.isReady());
});

test('stdio with a Temporal that is down answers each revision at once, and calls once it is up', async () => {
  // The stack that it starts has no Temporal of its own, and the one that its environment names comes later.
  const port = await freePort();
  const environment = { LONGHAUL_PROJECT: FIXTURES, TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  run = home.run(['stdio'], environment);
  const write = (message: object) =>
    void run.process.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method: string, params: object = {}) => write({ id: method, method, params });
  const clientInfo = { name: 't', version: '1' };
  request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  write({ method: 'notifications/initialized' });
  request('tools/call', CALL);
  for (const method of ['ping', 'tools/list']) request(method);
  for (const method of ['initialize', 'ping', 'tools/list']) await answered(method);
  expect(answerTo('tools/call')).toBeUndefined();

  run = home.run(['stdio'], environment);
  send('tools/call', CALL);
  send('server/discover');
  await answered('server/discover');
  expect(answerTo('tools/call')).toBeUndefined();
  const temporalHome = await TestHome.create();
  const settings = await loadSettings({ home: temporalHome.path, temporalPort: port, logLevel: 'warn' });
  const temporal = await startEmbeddedTemporal(settings, () => undefined, { port, uiPort: await freePort() });
  try {
    expect((await answered('tools/call')).result.structuredContent).toHaveProperty('token');
  } finally {
    await home.remove();
    await temporal.stop();
    await temporalHome.remove();
  }
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { call, follow, start } from '../plain/support.js';
import { initializeParams } from '../revision-2025-11-25/wire.js';
import { eventually, TestHome, type CommandRun } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/test-stack.js';
import { expectStopping, expectTaskStopping, takenUp } from './support.js';

let up: CommandRun;
let http: WireClient;
let token: string;
const home = await forAllTests(TestHome.create());
beforeAll(async () => {
  up = await home.up({ ...PROJECT, LONGHAUL_DRAIN_TIMEOUT: '10m' });
  http = new WireClient(`${home.url}/mcp`, {});
  ({ token } = await start(http, 'nap', { idempotency_key: 'nap' }));
  await follow(http, token, 'running');
});

const PROJECT = { LONGHAUL_PROJECT: FIXTURES };
const NAP = { idempotency_key: 'nap', wait: true, timeout: 600 };

let run: CommandRun;
afterEach(async () => {
  run.process.kill('SIGKILL');
  await run.ended;
});

const write = (message: object) => void run.process.stdin!.write(`${JSON.stringify(message)}\n`);
const answerTo = (id: number | string): any =>
  run
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .find((message) => message.id === id && !('method' in message));
const answered = (id: number | string) => eventually(`an answer to ${id}`, () => answerTo(id));

test('over stdio, waits of 2026-07-28 are answered when the input ends', async () => {
  run = home.run(['stdio'], PROJECT);
  const send = (id: string, name: string, args: object) =>
    write({ ...http.envelope('tools/call', { name, arguments: args }), id });
  send('tool', 'nap', NAP);
  send('look', 'operation_get', { token, wait: true, timeout: 600 });
  write({ ...http.envelope('server/discover'), id: 'discover' });
  await answered('discover');
  await takenUp();
  run.process.stdin!.end();
  expect(await run.ended).toBe(0);
  expectStopping(answerTo('tool').result, token);
  expectStopping(answerTo('look').result, token);
});

test('over stdio, waits of 2025-11-25 are answered on SIGTERM', async () => {
  run = home.run(['stdio'], PROJECT);
  const request = (id: number, method: string, params: object) =>
    write({ jsonrpc: '2.0', id, method, params });
  request(1, 'initialize', initializeParams('2025-11-25'));
  await answered(1);
  write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  request(2, 'tools/call', { name: 'nap', arguments: {}, task: {} });
  const { taskId } = (await answered(2)).result.task;
  await follow(http, taskId, 'running');
  request(3, 'tools/call', { name: 'nap', arguments: NAP });
  request(4, 'operation_get', {});
  request(5, 'tools/call', { name: 'operation_get', arguments: { token, wait: true, timeout: 600 } });
  request(6, 'tasks/result', { taskId });
  await answered(4);
  await takenUp();
  run.process.kill('SIGTERM');
  expect(await run.ended).toBe(0);
  expectStopping(answerTo(3).result, token);
  expectStopping(answerTo(5).result, token);
  expectTaskStopping(answerTo(6).error, taskId);
});

/** Last: it ends the stack. */
test('SIGTERM of up answers waits before Temporal is gone, and gives activities 5 s, whatever is set', async () => {
  const folder = temporaryFolder('held');
  await start(http, 'hold', { folder });
  await eventually('its activity runs', () => existsSync(join(folder, 'held')));
  const waiting = call(http, 'nap', NAP);
  await takenUp();
  up.process.kill('SIGTERM');
  expectStopping(await waiting, token);
  expect(await up.ended).toBe(0);
  const log = readFileSync(join(home.path, 'logs', 'worker.log'), 'utf8');
  expect(log).toContain('worker stops: 1 activity still runs, and may do so for 5 s');
  expect(log).toContain('drain timeout: 1 activity still runs, and will be cancelled');
});

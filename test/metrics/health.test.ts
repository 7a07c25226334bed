/** Health addresses of single processes: readiness of a worker, drains, authentication, settings that contradict each other. */
import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { readinessOf } from '../../platform/observe/health/checks.js';
import { startHealthListener } from '../../platform/observe/health/listener.js';
import { settingConflicts } from '../../platform/settings/conflicts.js';
import { loadSettings } from '../../platform/settings/index.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { answers } from '../support/service.js';
import { TestHome, eventually, freePort } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';

const PROJECT = resolve('test/metrics/project');

const home = temporaryFolder('health');
const [server, worker] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
// Own stack: with health addresses.
const stack = await forAllTests(
  TestStack.serverAlone({ LONGHAUL_HOME: home, LONGHAUL_PROJECT: PROJECT, LONGHAUL_HEALTH_ADDRESS: server }),
);
stack.worker({ LONGHAUL_HEALTH_ADDRESS: worker });
beforeAll(async () => {
  await stack.ready();
  // The server is ready once the worker polls, and the worker a moment later.
  await eventually('the worker is ready', async () => (await ask(worker, '/readyz')).status === 200);
});

async function ask(address: string, path: string): Promise<{ status: number; body: any }> {
  const response = await fetch(`http://${address}${path}`);
  return { status: response.status, body: await response.json() };
}

/** Starts a job that is held until it is cancelled. */
function startHeld(base: string): Promise<Response> {
  return fetch(`${base}/v1/tools/held/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: '{}',
  });
}

test('server and worker answer in the same shape', async () => {
  for (const address of [server, worker, `127.0.0.1:${stack.port}`]) {
    expect(await ask(address, '/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    const { status, body } = await ask(address, '/readyz');
    expect([status, body.status, body.missing]).toEqual([200, 'ready', undefined]);
    for (const check of ['temporal', 'storage', 'disk', 'secret', 'shutdown'])
      expect([check, body.checks[check].status]).toEqual([check, expect.stringMatching(/^(ok|warning)$/)]);
  }
  expect(Object.keys((await ask(worker, '/readyz')).body.checks)).toEqual(
    expect.arrayContaining(['workflows', 'activities', 'host', 'steps']),
  );
  expect((await ask(worker, '/nothing')).status).toBe(404);
  expect((await fetch(`http://${worker}/readyz`, { method: 'POST' })).status).toBe(405);
});

/** Status of a request in HTTP/1.0 with exactly these headers. */
async function statusWith(address: string, path: string, headers: Record<string, string>): Promise<number> {
  const { port } = new URL(`http://${address}`);
  const socket = connect(Number(port), '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.0\r\n${lines.join('')}\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))![1]);
}

test('a health address on loopback answers under the names of loopback only', async () => {
  for (const address of [server, worker]) {
    const port = address.split(':').pop();
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const statusOf = async (headers: Record<string, string>) => [
        path,
        headers,
        await statusWith(address, path, headers),
      ];
      // Browsers always send a Host.
      const own: Record<string, string>[] = [
        {},
        { Host: address },
        { Host: `localhost:${port}` },
        { Host: `[::1]:${port}` },
      ];
      for (const headers of own) expect(await statusOf(headers)).toEqual([path, headers, 200]);
      const others: Record<string, string>[] = [
        { Host: `rebound.example:${port}` },
        { Host: `localhost.rebound.example:${port}` },
        { Host: `10.1.2.3:${port}` },
        { Host: '127.0.0.1127.0.0.1' },
        { Host: address, Origin: `http://rebound.example:${port}` },
      ];
      for (const headers of others) expect(await statusOf(headers)).toEqual([path, headers, 403]);
    }
  }
});

test('a health address on other networks answers under IP addresses and allowed hosts', async () => {
  const port = await freePort();
  const end = await startHealthListener({ host: '0.0.0.0', port }, ['worker-1'], () =>
    Promise.resolve(readinessOf({})),
  );
  const statusOf = (host: string) => statusWith(`127.0.0.1:${port}`, '/readyz', { Host: host });
  for (const host of [`10.1.2.3:${port}`, '[2001:db8::1]:80', `localhost:${port}`, `worker-1:${port}`])
    expect([host, await statusOf(host)]).toEqual([host, 200]);
  for (const host of [`rebound.example:${port}`, 'worker-2', '10.1.2.3.nip.example'])
    expect([host, await statusOf(host)]).toEqual([host, 403]);
  await end();
});

test('a worker that waits for Temporal lives and is not ready, and says why, also without metrics', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const waiting = stack.worker({
    LONGHAUL_HEALTH_ADDRESS: address,
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    LONGHAUL_METRICS: 'false',
  });
  await eventually('it listens', () =>
    ask(address, '/healthz').then(
      () => true,
      () => false,
    ),
  );
  const { status, body } = await ask(address, '/readyz');
  expect([status, body.status]).toEqual([503, 'unavailable']);
  expect(body.missing).toContain('the worker has not connected to Temporal yet');
  expect((await fetch(`http://${address}/metrics`)).status).toBe(404);
  await waiting.end('SIGKILL');
});

test('a worker that drains is not ready, until its activity has ended', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const taskQueue = `${stack.taskQueue}-drain`;
  const port = await freePort();
  const environment = { LONGHAUL_TASK_QUEUE: taskQueue, LONGHAUL_PORT: String(port) };
  const own = stack.run('server', {
    ...environment,
    LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${await freePort()}`,
  });
  const draining = stack.worker({
    ...environment,
    LONGHAUL_HEALTH_ADDRESS: address,
    LONGHAUL_DRAIN_TIMEOUT: '6s',
  });
  const base = `http://127.0.0.1:${port}`;
  await eventually('it is ready', () => answers(`${base}/readyz`));
  const started = await startHeld(base);
  const job = new URL(started.headers.get('location')!, base).href;
  const stateOf = async () => ((await (await fetch(job)).json()) as any).progress;
  await eventually('its activity runs', async () => (await stateOf()) !== undefined);
  const ended = draining.end('SIGTERM');
  const { body } = await eventually('it is not ready', async () => {
    const answer = await ask(address, '/readyz');
    return answer.status === 503 ? answer : undefined;
  });
  expect(body.checks.shutdown).toEqual({
    status: 'failed',
    reason: 'the worker stops: it takes no further tasks',
  });
  expect((await ask(address, '/healthz')).status).toBe(200);
  await fetch(`${job}:cancel`, { method: 'POST' });
  await ended;
  await own.end();
});

test('processes with different secrets are found out by the server and by the worker', async () => {
  const port = await freePort();
  const other = stack.run('server', {
    LONGHAUL_PORT: String(port),
    LONGHAUL_SECRET: randomBytes(32).toString('base64'),
    LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${await freePort()}`,
  });
  const base = `http://127.0.0.1:${port}`;
  await eventually('it serves', () => answers(`${base}/readyz`));
  const started = await startHeld(base);
  expect(started.status).toBe(202);
  const refused = await eventually('the worker has refused it', async () => {
    const { status, body } = await ask(worker, '/readyz');
    return body.checks.secret.status === 'warning'
      ? { status, reason: body.checks.secret.reason }
      : undefined;
  });
  expect(refused).toEqual({
    status: 200,
    reason: expect.stringMatching(/the key [\w-]{8}, and this worker/),
  });
  const seen = await eventually('the server has seen it', async () => {
    const { status, body } = await ask(server, '/readyz');
    return body.checks.secret.status === 'warning'
      ? { status, reason: body.checks.secret.reason }
      : undefined;
  });
  expect(seen).toEqual({
    status: 200,
    reason: expect.stringMatching(/the key [\w-]{8}, and this server has the key [\w-]{8}: give all/),
  });
  const doctor = await TestHome.create();
  const run = doctor.run(['doctor', '--url', `${stack.base}/mcp`, '--json']);
  await run.ended;
  expect(JSON.parse(run.stdout()).findings).toContainEqual(
    expect.objectContaining({ check: 'secret', status: 'warn', detail: seen.reason }),
  );
  await doctor.remove();
  await other.end();
});

test('with authentication only the health address has metrics', async () => {
  const port = await freePort();
  const address = `127.0.0.1:${await freePort()}`;
  const closed = stack.run('server', {
    LONGHAUL_PORT: String(port),
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_HEALTH_ADDRESS: address,
  });
  await eventually('it serves', () => answers(`http://${address}/readyz`));
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
  expect(await (await fetch(`http://${address}/metrics`)).text()).toContain('longhaul_process_info');
  expect((await ask(`127.0.0.1:${port}`, '/readyz')).body).not.toHaveProperty('tools');
  expect(await (await fetch(`${stack.base}/metrics`)).text()).toContain('longhaul_process_info');
  await closed.end();
});

test('a health address without a port is refused, as is one that the server needs itself, or that is in use', async () => {
  await expect(loadSettings({ healthAddress: 'localhost' }, {}, '/')).rejects.toThrow(
    '--health-address: expected a host and a port, such as 127.0.0.1:9464 or [::]:9464; got "localhost"',
  );
  const conflicts = async (flags: Parameters<typeof loadSettings>[0]) =>
    settingConflicts(await loadSettings(flags, {}, '/')).join('\n');
  expect(await conflicts({ metrics: 'true', authentication: 'keys' })).toContain(
    '--metrics true: expected --health-address too',
  );
  expect(await conflicts({ healthAddress: '127.0.0.1:7411', port: '7411' })).toContain(
    '--health-address 127.0.0.1:7411: expected another port than --port 7411',
  );
  const second = stack.worker({ LONGHAUL_HEALTH_ADDRESS: worker });
  await eventually('it has ended', () => second.process.exitCode !== null);
  await second.end();
  expect(second.process.exitCode).not.toBe(0);
  expect(second.output()).toMatch(
    /can't be listened on \(EADDRINUSE\): choose another address with LONGHAUL_HEALTH_ADDRESS or --health-address/,
  );
});

test('up refuses a health address whose next port is in use', async () => {
  const up = await TestHome.create();
  const port = await freePort();
  const taken = createServer();
  await new Promise<void>((listening) => taken.listen(port, '127.0.0.1', listening));
  const run = up.run(['up'], { LONGHAUL_HEALTH_ADDRESS: `127.0.0.1:${port - 1}` });
  expect(await run.ended).not.toBe(0);
  expect(run.stderr()).toMatch(/and the health address of the (server|worker) needs it/);
  taken.close();
  await up.remove();
});

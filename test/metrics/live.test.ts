/** A stack of `longhaul up` that Prometheus scrapes: every metric, every panel and every alert, over real operations. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { parse } from 'yaml';
import { deploymentNameOf } from '../../platform/temporal/deployments.js';
import { METRICS, type MetricName } from '../../platform/observe/metrics/catalog.js';
import { TestHome, eventually, freePort } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { type ProtocolClient, protocolClients } from '../support/protocols/index.js';
import { type Dashboard, expressionsOf } from './dashboard.js';
import { Prometheus } from './prometheus.js';

jest.setTimeout(INSTALL_MS);

const PROJECT = resolve('test/metrics/project');
const RULES = 'deploy/prometheus/longhaul.rules.yml';
const dashboard = JSON.parse(readFileSync('deploy/grafana/longhaul.json', 'utf8')) as Dashboard;

const home = await forAllTests(TestHome.create());
const port = await inSetUp(freePair());
const [server, worker] = [`127.0.0.1:${port}`, `127.0.0.1:${port + 1}`];
// Own stack: Prometheus scrapes it.
const prometheus = await forAllTests(
  Prometheus.start({ 'longhaul-server': [server], 'longhaul-worker': [worker] }, RULES),
);
beforeAll(async () => {
  await home.up({ LONGHAUL_HEALTH_ADDRESS: server, LONGHAUL_PROJECT: PROJECT, LONGHAUL_MAILBOX: '1' });
  await startBuild();
  // Series begin before the operations whose increase is asked for.
  await drive();
  await scrapedOnce();
  await drive();
  await scrapedOnce();
});

/** Starts a worker of a build that no operation goes to: the worker of `longhaul up` has no build. */
async function startBuild(): Promise<void> {
  const address = home.state().temporalAddress!;
  const ofBuild = home.run(['worker'], {
    TEMPORAL_ADDRESS: address,
    LONGHAUL_PROJECT: PROJECT,
    LONGHAUL_WORKER_ROLE: 'workflows',
    LONGHAUL_WORKER_VERSIONING: 'true',
  });
  const buildId = await eventually(
    () => `the worker names its build: ${ofBuild.stderr()}`,
    () => /"buildId":"([^"]*)"/.exec(ofBuild.stderr())?.[1],
  );
  const connection = await Connection.connect({ address });
  const ramp = { namespace: 'default', deploymentName: deploymentNameOf('longhaul'), buildId, percentage: 0 };
  await eventually('Temporal has the build', () =>
    connection.workflowService.setWorkerDeploymentRampingVersion(ramp).then(
      () => true,
      () => false,
    ),
  );
  await connection.close();
}

/** The first of two neighbouring ports that are free. */
async function freePair(): Promise<number> {
  for (;;) {
    const [first, second] = [await freePort(), await freePort()];
    if (second === first + 1) return first;
  }
}

/** A request to each protocol; operations that complete, fail, ask, are answered and are canceled. One question stays open. */
async function drive(): Promise<void> {
  const clients = protocolClients(home.url);
  const key = () => `key-${Math.random()}`;
  for (const client of clients) {
    const token = await client.start('measured', {}, key());
    await over(client, token);
  }
  const [tasks] = clients as [ProtocolClient];
  const plain = clients.find(({ name }) => name.includes('plain'))!;
  await over(tasks, await tasks.start('refused', {}, key()));
  const [answered, canceled, open] = (await Promise.all(
    [1, 2, 3].map(() => tasks.start('asked', {}, key())),
  )) as [string, string, string];
  for (const token of [answered, canceled, open])
    await eventually('it asks', async () => (await tasks.read(token))?.questions.length === 1);
  await plain.wait!(open, 1);
  // A subscription.
  await tasks.wait!(open, 1);
  const [question] = (await tasks.read(answered))!.questions;
  await tasks.answer(answered, question!.key, { proceed: true });
  await over(tasks, answered);
  await tasks.cancel(canceled);
  await over(tasks, canceled);
  // A JSON-RPC error.
  expect(await tasks.read('no-such-token-at-all-00')).toBeUndefined();
}

async function over(client: ProtocolClient, token: string): Promise<void> {
  await eventually(`${token} has ended`, async () => (await client.read(token))?.isOver);
}

/** Waits until Prometheus has read both pages after now. */
async function scrapedOnce(): Promise<void> {
  const afterS = Date.now() / 1_000;
  await eventually('Prometheus has scraped both', async () => {
    const scrapes = await prometheus.query('timestamp(up == 1)');
    return scrapes.length === 2 && scrapes.every(({ value }) => value > afterS);
  });
}

const page = async (address: string) => (await fetch(`http://${address}/metrics`)).text();

/** Metrics of a page: name -> type, and the sets of labels of its series. */
function metricsIn(text: string): Map<string, { type: string; labels: Set<string> }> {
  const found = new Map<string, { type: string; labels: Set<string> }>();
  for (const line of text.split('\n')) {
    const [, named, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (named) found.set(named, { type: type!, labels: new Set() });
    const [, series, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (!series) continue;
    const name = found.has(series) ? series : series.replace(/_(bucket|count|sum)$/, '');
    const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, one]) => one!);
    found.get(name)?.labels.add(names.filter((one) => one !== 'le').join());
  }
  return found;
}

test('the pages have every metric of the catalog, with its type and labels', async () => {
  await eventually('values that are read in the background are there', async () => {
    const text = await page(server);
    return /^longhaul_build_open_operations\{/m.test(text) && /^longhaul_questions_open 2$/m.test(text);
  });
  const pages = { server: metricsIn(await page(server)), worker: metricsIn(await page(worker)) };
  for (const [name, { type, labels, of }] of Object.entries(METRICS))
    for (const process of ['server', 'worker'] as const) {
      if (of !== 'both' && of !== process) continue;
      // Only a server that ends an overdue operation counts it as closed.
      if (name === 'longhaul_operations_closed_total' && process === 'server') continue;
      const found = pages[process].get(name);
      expect([process, name, found?.type]).toEqual([process, name, type]);
      expect([process, name, [...found!.labels]]).toEqual([process, name, [labels.join()]]);
    }
  for (const found of Object.values(pages)) {
    const own = [...found.keys()].filter((name) => name.startsWith('longhaul_'));
    expect(own.filter((name) => !(name in METRICS))).toEqual([]);
    expect(found.has('temporal_request_total')).toBe(true);
  }
});

test('docs/metrics.md lists every metric as it is on the page', () => {
  const rows = readFileSync('docs/metrics.md', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, ...cells] = line.split('|').map((cell) => cell.trim().replaceAll('`', ''));
      return name?.startsWith('longhaul_') ? [[name, ...cells.slice(0, 4)]] : [];
    });
  const expected = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { type, labels, of, help } = METRICS[name];
    return [name, type, labels.join(', ') || '-', of === 'both' ? 'both' : of, help];
  });
  expect(rows).toEqual(expected);
});

test('operations are counted once, by tool and status', async () => {
  const closed = await prometheus.query('longhaul_operations_closed_total > 0');
  const counts = closed.map(({ metric, value }) => `${metric['tool']} ${metric['status']} ${value}`);
  expect(counts.sort()).toEqual([
    'asked canceled 2',
    'asked completed 2',
    'measured completed 20',
    'refused failed 2',
  ]);
  const started = await prometheus.query('longhaul_operations_started_total');
  expect(Object.fromEntries(started.map(({ metric, value }) => [metric['tool'], value]))).toEqual({
    asked: 6,
    measured: 20,
    refused: 2,
  });
  const [progressed] = await prometheus.query('longhaul_operation_first_progress_seconds_count');
  expect(progressed?.value).toBe(20);
});

test('callers cannot make up labels', async () => {
  const made = ['tools/zebra', `x${'y'.repeat(200)}`];
  for (const method of made)
    await fetch(`${home.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
    });
  await fetch(`${home.url}/v1/zebra/${'y'.repeat(200)}`);
  await fetch(`${home.url}/v1/jobs/zebra-zebra-zebra-00`);
  const text = await page(server);
  expect(text).not.toMatch(/zebra|yyyy/);
  expect(text).toContain('method="GET /v1/jobs/:id"');
});

test.each([...new Set(expressionsOf(dashboard))])('the dashboard has data for %s', async (expression) => {
  const query = expression.replaceAll('$__rate_interval', '5m');
  const hasData = async () => (await prometheus.query(query)).some(({ value }) => Number.isFinite(value));
  expect(await eventually(`there is data for ${query}`, hasData, 60_000)).toBe(true);
});

describe('the alerts', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };

  test.each(groups.flatMap(({ rules }) => rules))('$alert is quiet on a healthy stack', async ({ expr }) => {
    expect(await prometheus.query(expr)).toEqual([]);
    // Each metric in it has series, so that it is quiet for its condition alone.
    for (const name of new Set(expr.match(/\b(longhaul_\w+|up)\b/g)))
      expect([name, (await prometheus.query(name)).length > 0]).toEqual([name, true]);
  });
});

test('storage that fails makes the worker unready, is a warning of the server, and is named', async () => {
  const folder = join(home.path, 'storage');
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, '');
  for (const [address, status, outcome, list] of [
    [server, 'warning', 200, 'degraded'],
    [worker, 'failed', 503, 'missing'],
  ] as const)
    await eventually(`${address} says so`, async () => {
      const response = await fetch(`http://${address}/readyz`);
      const body = (await response.json()) as any;
      const { storage } = body.checks;
      if (storage.status === 'ok') return false;
      expect([response.status, storage.status]).toEqual([outcome, status]);
      expect(body[list]).toEqual([storage.reason]);
      expect(storage.reason).toMatch(/^storage can't be written: E(NOTDIR|EXIST)$/);
      return true;
    });
  await eventually('the errors are counted', async () => {
    const errors = await prometheus.query('sum(longhaul_storage_errors_total{operation="probe"}) > 0');
    return errors.length > 0;
  });
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  for (const address of [server, worker])
    await eventually(`${address} is ready`, async () => (await fetch(`http://${address}/readyz`)).ok);
});

test('a scraper that reads nothing delays neither requests nor other scrapes', async () => {
  const { connect } = await import('node:net');
  const stuck = Array.from({ length: 20 }, () => {
    const socket = connect(Number(server.split(':')[1]), '127.0.0.1');
    socket.pause();
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  });
  const [tasks] = protocolClients(home.url) as [ProtocolClient];
  await over(tasks, await tasks.start('measured', {}, `key-${Math.random()}`));
  expect(await page(server)).toContain('longhaul_process_info');
  for (const socket of stuck) socket.destroy();
});

/** Web pages get nothing from the embedded Temporal: under a rebound name, from another origin, or by blind requests. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import type { Browser, Page } from 'playwright-core';
import { TestHome } from '../stack/cli-process.js';
import { startBrowser } from '../support/browser.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/test-stack.js';

/** Each name in this domain resolves to 127.0.0.1 in the browser. */
const DOMAIN = 'pages.example';
const LIST = '/api/v1/namespaces/default/workflows';

// Own stack: its Temporal and its UI.
const home = await forAllTests(TestHome.create());
await inSetUp(
  home.up({
    LONGHAUL_PROJECT: FIXTURES,
    LONGHAUL_ALLOWED_HOSTS: 'temporal.example.com',
    LONGHAUL_TRUSTED_PROXIES: '127.0.0.1',
  }),
);
const mcp = new WireClient(`${home.url}/mcp`);
/** An operation that waits for an answer. */
const token = await inSetUp(mcp.start('confirm_delete', { filename: 'a.txt' }));
await inSetUp(mcp.until(token, 'input_required'));
const { temporalAddress, temporalUiUrl } = home.state();
/** Port of the UI's proxy. */
const port = Number(new URL(temporalUiUrl!).port);
const connection = await forAllTests(Connection.connect({ address: temporalAddress! }));
const temporal = new Client({ connection });

interface Listener {
  host: string;
  port: number;
}

/** Where a process listens, over IPv4. */
function listenersOf(pid: number): Listener[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // It has been closed since.
      return '';
    }
  });
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    // 0A is LISTEN; addresses are little-endian.
    if (state !== '0A' || !sockets.includes(`socket:[${inode}]`)) return [];
    const [address, hexPort] = local.split(':') as [string, string];
    const host = [...Buffer.from(address, 'hex')].reverse().join('.');
    return [{ host, port: parseInt(hexPort, 16) }];
  });
}

const temporalListeners = () => listenersOf(home.parts().temporal);

/** Status of an answer, to a request with headers that fetch doesn't let pass; undefined for one that isn't HTTP. */
function statusOf(
  to: Listener,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<number | undefined> {
  return new Promise((resolve) => {
    request({ ...to, path, headers, method, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', () => resolve(undefined))
      .end();
  });
}

const ask = (headers: Record<string, string>, path = LIST, method?: string) =>
  statusOf({ host: '127.0.0.1', port }, path, headers, method);

describe("the UI's address", () => {
  const PATHS = ['/', '/_app/version.json', LIST, '/api/v1/settings', '/nothing'];

  test('answers under its own names only, on every path', async () => {
    for (const name of ['127.0.0.1', 'localhost', '[::1]', 'temporal.example.com'])
      expect([name, await ask({ host: `${name}:${port}` })]).toEqual([name, 200]);
    for (const name of [
      DOMAIN,
      `localhost.${DOMAIN}`,
      '127.0.0.1.nip.example',
      '0.0.0.0',
      '10.0.0.1',
      '127.0.0.1127.0.0.1',
    ])
      for (const path of PATHS)
        expect([name, path, await ask({ host: `${name}:${port}` }, path)]).toEqual([name, path, 403]);
  });

  test('answers its own origin only, whatever the method', async () => {
    const own = `http://127.0.0.1:${port}`;
    expect(await ask({ origin: own })).toBe(200);
    for (const origin of [`http://127.0.0.1:${port + 1}`, `http://${DOMAIN}:${port}`, 'null', home.url])
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
        expect([origin, method, await ask({ origin }, LIST, method)]).toEqual([origin, method, 403]);
  });

  test('answers the origin of a trusted proxy that ends TLS', async () => {
    const headers = { host: 'temporal.example.com', origin: 'https://temporal.example.com' };
    const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    expect(await ask({ ...headers, ...forwarded })).toBe(200);
    expect(await ask(headers)).toBe(403);
    expect(await ask({ ...headers, ...forwarded, 'x-forwarded-host': DOMAIN })).toBe(403);
  });
});

test('nothing else that Temporal listens on at 127.0.0.1 answers a call', async () => {
  const listeners = temporalListeners();
  const known = listeners.filter(({ host }) => host === '127.0.0.1');
  const paths = [LIST, '/namespaces/default/workflows', '/api/v1/namespaces'];
  const statuses = await Promise.all(
    known.flatMap((listener) => paths.map((path) => statusOf(listener, path))),
  );
  // The HTTP API is there, and refuses. Others speak gRPC, or serve Temporal's own metrics.
  expect(statuses.filter((status) => status === 403)).toHaveLength(paths.length);
  expect(new Set(statuses)).toEqual(new Set([403, 404, undefined]));
  const hidden = listeners.filter((listener) => !known.includes(listener));
  expect(hidden).toEqual([{ host: expect.stringMatching(/^127\.(?!0\.0\.)/), port: expect.any(Number) }]);
});

describe('in a browser', () => {
  let browser: Browser;
  let page: Page;
  let site: Server;
  /** Origin of the pages of another site. */
  let other: string;
  beforeAll(async () => {
    browser = await startBrowser([`--host-resolver-rules=MAP *.${DOMAIN} 127.0.0.1`]);
    site = createServer((_request, response) => response.end('a page'));
    await new Promise<void>((settle) => site.listen(0, '127.0.0.1', settle));
    other = `http://other.${DOMAIN}:${(site.address() as AddressInfo).port}`;
  }, INSTALL_MS);
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  // A page for each test: the error page of a refused navigation may come later, and end the next one.
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.close());

  /** Sends a request from the page. @returns its status, 0 for one that the page may not see, or the error */
  const send = (url: string, init: object = {}): Promise<number | string> =>
    page.evaluate(([to, how]) => fetch(to, how).then(({ status }) => status, String), [url, init] as const);

  /** Cancels all that is open, without a token. */
  const batch = {
    visibilityQuery: 'ExecutionStatus = "Running"',
    reason: 'a page',
    cancellationOperation: { identity: 'a page' },
  };

  const isThere = (workflowId: string) =>
    temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
          return false;
        },
      );

  test('a page whose name is rebound reads nothing and answers nothing', async () => {
    const reached = await page.goto(`http://rebound.${DOMAIN}:${port}/`);
    expect(reached!.status()).toBe(403);
    expect(await send(LIST)).toBe(403);
    const answer = { signalName: 'provide_input', input: { payloads: [] } };
    const post = { method: 'POST', body: JSON.stringify(answer) };
    expect(await send(`${LIST}/${token}/signal/provide_input`, post)).toBe(403);
    for (const listener of temporalListeners().filter(({ host }) => host === '127.0.0.1')) {
      const opened = await page
        .goto(`http://rebound.${DOMAIN}:${listener.port}${LIST}`)
        .catch(() => undefined);
      expect([listener.port, opened?.ok() ?? false]).toEqual([listener.port, false]);
    }
    expect((await mcp.get(token)).status).toBe('input_required');
  });

  test('a blind request of another site starts no batch', async () => {
    await page.goto(other);
    const ports = [...temporalListeners().map((listener) => listener.port), port];
    const sent = [];
    for (const to of ports) {
      const job = `blind-${to}`;
      const url = `http://127.0.0.1:${to}/api/v1/namespaces/default/batch-operations/${job}`;
      sent.push(await send(url, { method: 'POST', mode: 'no-cors', body: JSON.stringify(batch) }));
      expect([to, await isThere(job)]).toEqual([to, false]);
    }
    // The HTTP API and the UI have got it.
    expect(sent.filter((status) => status === 0).length).toBeGreaterThanOrEqual(2);
    expect((await mcp.get(token)).status).toBe('input_required');
  });

  test('a person sees the operations, and cancels one', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      await page.goto(`http://${name}:${port}/namespaces/default/workflows`);
      await page.getByText(token).first().waitFor();
    }
    const cancelled = await mcp.start('confirm_delete', { filename: 'b.txt' });
    const cookies = await page.context().cookies(page.url());
    const headers = { 'x-csrf-token': cookies.find(({ name }) => name === '_csrf')!.value };
    const post = { method: 'POST', headers, body: JSON.stringify({ reason: 'a person' }) };
    expect(await send(`${LIST}/${cancelled}/cancel`, post)).toBe(200);
    await mcp.until(cancelled, 'cancelled');
  });
});

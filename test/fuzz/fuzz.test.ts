import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { PROTOCOLS } from './corpus/index.js';
import { CorpusBuilder, type Protocol } from './corpus/entry.js';
import { jobs } from './corpus/jobs.js';
import { faultyProxy, jsonResponse } from './faulty-proxy.js';
import { fuzz } from './fuzz.js';
import { fuzzParts } from './run-all.js';
import { FuzzStack } from './fuzz-stack.js';
import { STDIO } from './stdio.js';

jest.setTimeout(INSTALL_MS);

let stack: FuzzStack;
beforeAll(async () => {
  stack = await FuzzStack.start();
});
afterAll(() => stack?.stop());

test('mutated requests over every protocol: no crash, no internal error, no growth, nothing started by a refused one', async () => {
  const { violations, reports, operations } = await fuzzParts(stack, { seed: 1, cases: 120 });
  expect(violations).toEqual([]);
  expect(reports.map(({ protocol, cases }) => [protocol, cases])).toEqual(
    [...PROTOCOLS.map(({ name }) => name), STDIO].map((name) => [name, 120]),
  );
  // Some are valid still, and most aren't.
  expect(operations.accepted).toBeGreaterThan(10);
  for (const { protocol, statuses } of reports.filter((report) => report.protocol !== STDIO)) {
    expect([protocol, statuses.get('200')! > 5]).toEqual([protocol, true]);
    expect([protocol, statuses.get('400')! > 5]).toEqual([protocol, true]);
  }
});

test('the corpus has every path and method of the OpenAPI document', async () => {
  const document = (await (await fetch(`${stack.base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const corpus = new CorpusBuilder(stack.base);
  await jobs.build(corpus);
  const sent = corpus.entries.map(({ request }) => `${request.method} ${request.target.split('?')[0]}`);
  for (const [path, methods] of Object.entries(document.paths)) {
    const pattern = path.replaceAll(/[.:]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/:]+');
    // The kickoffs of the single tools are one route.
    const route = path.startsWith('/v1/tools/') && path.endsWith('/jobs') ? '/v1/tools/[^/]+/jobs' : pattern;
    for (const method of Object.keys(methods))
      expect(sent).toContainEqual(expect.stringMatching(new RegExp(`^${method.toUpperCase()} ${route}$`)));
  }
});

/** Two requests, of which the proxy answers one. */
const SMALL: Protocol = {
  name: '2026-07-28',
  operations: 0,
  build: async (corpus) => {
    const client = new WireClient(`${corpus.base}/mcp`);
    corpus.current(client, 'resources/templates/list');
    corpus.current(client, 'server/discover');
  },
};
const INTERNAL = { jsonrpc: '2.0', id: null, error: { code: -32603, message: 'x' } };
test.each<[what: string, fault: string | undefined, problem: RegExp]>([
  [
    'a 500',
    jsonResponse(500, { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'x' } }),
    /: 500: /,
  ],
  ['-32603', jsonResponse(200, INTERNAL), /: 200: an internal error/],
  [
    'a stranger’s ID',
    jsonResponse(200, { jsonrpc: '2.0', id: 'x', result: {} }),
    /: 200: an ID that the request/,
  ],
  ['what is no JSON', jsonResponse(200, {}).replace('{}', '{{'), /: 200: no JSON/],
  ['half an answer', jsonResponse(200, { a: 1 }).slice(0, -3), /: 200: the response broke off/],
  ['no HTTP', 'HTTP/9', /: no HTTP response/],
  ['silence', undefined, /: no answer in time/],
])('the fuzzer reports %s, with its seed and the smallest request', async (_what, fault, problem) => {
  const proxy = await faultyProxy(stack.base, 'resources/templates/list', fault);
  try {
    const options = { base: proxy.base, protocol: SMALL, patienceMs: 1_000 };
    const { failures } = await fuzz({ ...options, seed: 5, cases: 40 });
    expect(failures).toContainEqual(expect.stringMatching(problem));
    const [reported] = failures.filter((failure) => problem.test(failure));
    const [, command = '', from] =
      /(npm run fuzz -- --protocol 2026-07-28 --seed 5 --from (\d+) --cases 1)/.exec(reported!) ?? [];
    expect(command).not.toBe('');
    expect(reported).toContain('resources/templates/list');
    // Only what the fault needs is left of the request.
    expect(reported).not.toContain('mcp-protocol-version');
    const again = await fuzz({ ...options, seed: 5, from: Number(from), cases: 1 });
    expect(again.failures).toEqual([expect.stringMatching(problem)]);
  } finally {
    await proxy.close();
  }
});

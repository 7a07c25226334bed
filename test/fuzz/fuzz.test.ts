import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { afterThisTest, forAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { PROTOCOLS } from './corpus/index.js';
import { CorpusBuilder, type Protocol } from './corpus/entry.js';
import { jobs } from './corpus/jobs.js';
import { fuzz } from './fuzz.js';
import { fuzzParts } from './run-all.js';
import { FuzzStack } from './fuzz-stack.js';
import { STDIO } from './stdio.js';

jest.setTimeout(INSTALL_MS);

const stack = await forAllTests(FuzzStack.start());

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

/** One request, which the server below answers with a fault while it is what it was. */
const METHOD = 'resources/templates/list';
const SMALL: Protocol = {
  name: '2026-07-28',
  operations: 0,
  build: async (corpus) => corpus.current(new WireClient(`${corpus.base}/mcp`), METHOD),
};
const responseOf = (status: number, body: string, length = body.length) =>
  `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
const errorOf = (code: number) => `{"jsonrpc":"2.0","id":null,"error":{"code":${code},"message":"x"}}`;

test.each<[what: string, fault: string | undefined, problem: RegExp]>([
  ['a 500', responseOf(500, errorOf(-32000)), /: 500: /],
  ['-32603', responseOf(200, errorOf(-32603)), /: 200: an internal error/],
  [
    "a stranger's ID",
    responseOf(200, '{"jsonrpc":"2.0","id":"x","result":{}}'),
    /: 200: an ID that the request/,
  ],
  ['what is no JSON', responseOf(200, '{{'), /: 200: no JSON/],
  ['half an answer', responseOf(200, '{"a"', 10), /: 200: the response broke off/],
  ['no HTTP', 'HTTP/9', /: no HTTP response/],
  ['silence', undefined, /: no answer in time/],
])('the fuzzer reports %s, with its seed and the smallest request', async (_what, fault, problem) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (request) => {
      const answer = request.includes(METHOD) ? fault : responseOf(202, '');
      if (answer !== undefined) socket.end(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterThisTest(() => server.close());

  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { base, protocol: SMALL, patienceMs: 1_000, seed: 5 };
  const { failures } = await fuzz({ ...options, cases: 40 });
  const reported = failures.find((failure) => problem.test(failure));
  const [, from] =
    /npm run fuzz -- --protocol 2026-07-28 --seed 5 --from (\d+) --cases 1/.exec(reported!) ?? [];
  expect(reported).toContain(METHOD);
  // Only what the fault needs is left of the request.
  expect(reported).not.toContain('mcp-protocol-version');
  const again = await fuzz({ ...options, from: Number(from), cases: 1 });
  expect(again.failures).toEqual([expect.stringMatching(problem)]);
});

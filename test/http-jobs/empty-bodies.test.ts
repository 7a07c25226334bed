/** Requests without a body, in every form of HTTP/1.1: e.g. `curl -X POST` sends no Content-Length. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const JSON_TYPE = 'Content-Type: application/json';
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded';
const WAYS: [name: string, headers: string[], body: string][] = [
  ['no header', [], ''],
  ['a JSON content type alone', [JSON_TYPE], ''],
  ['Content-Length: 0', ['Content-Length: 0'], ''],
  ['Content-Length: 0 and a JSON content type', ['Content-Length: 0', JSON_TYPE], ''],
  ['empty chunks', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['empty chunks and a JSON content type', ['Transfer-Encoding: chunked', JSON_TYPE], '0\r\n\r\n'],
  ["the content type of curl -d ''", ['Content-Length: 0', FORM_TYPE], ''],
  ['another content type', ['Content-Length: 0', 'Content-Type: text/plain; charset=utf-8'], ''],
];

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

/** Sends a POST over a raw socket, since client libraries would change its headers. */
async function post(
  path: string,
  headers: string[],
  body: string,
): Promise<{ status: number; text: string }> {
  const socket = connect(parts.port, '127.0.0.1');
  const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${parts.port}`, 'Connection: close', ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

test.each(WAYS)(
  'with %s, a job is cancelled, a tool without arguments starts, and other requests are refused as documented',
  async (_name, headers, body) => {
    const id = await jobs.start('slow_compute', { seconds: 600 });
    const cancelled = await post(`/v1/jobs/${id}:cancel`, headers, body);
    // 200 if the job has ended by the time of the answer.
    expect([200, 202]).toContain(cancelled.status);
    await jobs.until(id, 'canceled');
    expect((await post(`/v1/jobs/${id}:delete`, headers, body)).status).toBe(204);
    expect((await post('/v1/tools/multi_input/jobs', headers, body)).status).toBe(202);
    expect((await post(`/v1/jobs/${'0'.repeat(32)}:resume`, headers, body)).status).toBe(404);
    expect((await post(`/v1/jobs/${'0'.repeat(32)}/input`, headers, body)).status).toBe(400);
    expect((await post('/v1/jobs', headers, body)).status).toBe(400);
    const mcp = await post('/mcp', headers, body);
    expect(mcp.status).toBe(headers.includes(JSON_TYPE) ? 400 : 415);
    expect(mcp.text).toContain('"jsonrpc":"2.0"');
  },
);

test('DELETE takes its reason in the query or in the body', async () => {
  for (const [query, init] of [
    ['?reason=enough', {}],
    ['', { body: '{"reason":"enough"}', headers: { 'content-type': 'application/json' } }],
  ] as const) {
    const id = await jobs.start('slow_compute', { seconds: 600 });
    const { status } = await jobs.request('DELETE', `/v1/jobs/${id}${query}`, init);
    expect([200, 202]).toContain(status);
    expect(await jobs.until(id, 'canceled')).toMatchObject({ error: { message: 'canceled: enough' } });
  }
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TASKS, type WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const LISTEN = 'subscriptions/listen';

let parts: TestStack;
let client: WireClient;
beforeAll(async () => {
  parts = await TestStack.shared();
  ({ client } = parts);
});
afterAll(() => parts?.stop());

/** Posts a subscription request with the given headers and body. */
async function post(headers: Record<string, string | undefined>, body: unknown = wanted()) {
  const given = Object.entries({ ...client.headers(LISTEN), ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await client.post(text, Object.fromEntries(given) as Record<string, string>);
  return {
    status: response.status,
    ...((await response.json()) as { id: unknown; error: { code: number } }),
  };
}

function wanted() {
  return client.envelope(LISTEN, { notifications: { taskIds: [] } });
}

test('task IDs need the extension; everything else does not', async () => {
  const missing = { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
  for (const taskIds of [[], ['any']]) {
    const answer = await client.with({ elicitation: {} }).request(LISTEN, { notifications: { taskIds } });
    expect(answer).toMatchObject({ httpStatus: 400, error: { code: -32021, data: missing } });
  }
  const stream = await client.with({}).listen({ toolsListChanged: true });
  expect(stream.response.status).toBe(200);
  stream.close();
});

test.each([
  ['no filter', {}],
  ['a filter that is no object', { notifications: 'all' }],
  ['task IDs that are no list', { notifications: { taskIds: 'a' } }],
  ['task IDs that are no text', { notifications: { taskIds: [1] } }],
  ['an empty task ID', { notifications: { taskIds: [''] } }],
  ['more than a hundred task IDs', { notifications: { taskIds: Array.from({ length: 101 }, String) } }],
])('%s is refused with what was expected', async (_name, params) => {
  const answer = await client.with(TASKS).request(LISTEN, params);
  expect(answer).toMatchObject({
    httpStatus: 200,
    error: { code: -32602, message: expect.stringMatching(/^params\.notifications.*expected/) },
  });
});

describe('headers', () => {
  test('that are missing or disagree with the body are refused', async () => {
    const refused = { status: 400, error: { code: -32020 } };
    expect(await post({ 'mcp-method': undefined })).toMatchObject(refused);
    expect(await post({ 'mcp-protocol-version': undefined })).toMatchObject(refused);
    expect(await post({ 'mcp-protocol-version': '2025-11-25' })).toMatchObject(refused);
    expect(await post({ 'mcp-method': 'tools/list' })).toMatchObject(refused);
    expect(await post({}, client.envelope('tools/list'))).toMatchObject(refused);
  });

  test('and body of another revision are refused with the one that is spoken', async () => {
    const request = wanted();
    for (const version of ['2099-01-01', '2025-11-25']) {
      request.params._meta['io.modelcontextprotocol/protocolVersion'] = version;
      expect(await post({ 'mcp-protocol-version': version }, request)).toMatchObject({
        status: 400,
        id: request.id,
        error: { code: -32022, data: { supported: ['2026-07-28'], requested: version } },
      });
    }
  });

  test('of another content type are refused, before the body is looked at', async () => {
    for (const type of ['text/plain', 'application/jsonp', undefined])
      expect(await post({ 'content-type': type }, '{')).toMatchObject({ status: 415, id: null });
  });

  test('of a foreign origin are refused', async () => {
    expect(await post({ origin: 'https://elsewhere.example' })).toMatchObject({ status: 403 });
  });
});

test('bodies that are no request of this revision are refused', async () => {
  expect(await post({}, '{"jsonrpc":')).toMatchObject({ status: 400, id: null, error: { code: -32700 } });
  expect(await post({}, [wanted()])).toMatchObject({ status: 400, error: { code: -32600 } });
  expect(await post({}, { ...wanted(), id: null })).toMatchObject({ status: 400, error: { code: -32600 } });
  const bare = { jsonrpc: '2.0', id: 7, method: LISTEN, params: { notifications: {} } };
  expect(await post({}, bare)).toMatchObject({ status: 400, id: 7, error: { code: -32602 } });
});

/** Waits that are quiet for longer than proxies leave a connection open. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;
let client: WireClient;
beforeAll(async () => {
  parts = await TestStack.shared();
  client = parts.client.with({});
});
afterAll(() => parts?.stop());

test('a quiet wait is kept alive by comments, with and without progress, and ends with the answer', async () => {
  const streams = [{}, { _meta: { progressToken: 1 } }].map(async (more) => {
    const params = {
      name: 'large_values',
      arguments: { thenWaitSeconds: 16, text: 'x', wait: true },
      ...more,
    };
    const response = await client.post(
      JSON.stringify(client.envelope('tools/call', params)),
      client.headers('tools/call', params),
    );
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    return (await response.text()).split('\n').filter(Boolean);
  });
  for (const lines of await Promise.all(streams)) {
    expect(lines[0]).toMatch(/^: /);
    const last = JSON.parse(lines.at(-1)!.replace('data: ', ''));
    expect(last.result.structuredContent).toMatchObject({ status: 'completed', result: { textLength: 1 } });
  }
});

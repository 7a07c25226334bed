/** Clients that ask to close the connection, and HTTP/1.0 proxies, which read an answer without a length to the end of the connection. */
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const parts = await forAllTests(TestStack.shared());
const session = await inSetUp(LegacyClient.open(parts.client.url));

/** Everything that arrives until the server closes the connection. */
function answerTo(head: string, body: string): Promise<string> {
  return new Promise((settle, fail) => {
    const socket = connect({ port: parts.port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('end', () => settle(text));
    socket.on('error', fail);
    // Far below the 75 s after which the server closes an idle connection.
    socket.setTimeout(30_000, () => {
      socket.destroy();
      fail(new Error(`the connection is still open; ${text}`));
    });
    socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}

test.each(['HTTP/1.1', 'HTTP/1.0'])(
  'a stream that is answered ends with its connection, over %s',
  async (version) => {
    const headers = { ...session.headers(), host: `127.0.0.1:${parts.port}`, connection: 'close' };
    const head = [
      `POST /mcp ${version}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    const text = await answerTo(head.join('\r\n'), '{"jsonrpc":"2.0","id":10,"method":"tools/call"}');
    expect(text).toContain('"code":-32602');
    expect(text).toMatch(/^connection: close\r$/im);
    expect(/^transfer-encoding: chunked\r$/im.test(text)).toBe(version === 'HTTP/1.1');
  },
);

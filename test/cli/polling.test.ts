import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestStack } from '../support/test-stack.js';
import { documents, run } from './commands.js';

interface Request {
  id: number;
  method: string;
}

/** Another vendor's server: tasks, but no subscriptions, and nothing of Longhaul's own. */
let other: Server;
let parts: TestStack;
const seen: string[] = [];
const TASK = {
  taskId: 't1',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: null,
  pollIntervalMs: 200,
};

function answer({ method }: Request): object {
  switch (method) {
    case 'tools/list':
      return {
        result: { resultType: 'complete', tools: [{ name: 'brew', inputSchema: { type: 'object' } }] },
      };
    case 'tools/call':
      return { result: { resultType: 'task', ...TASK, status: 'working' } };
    case 'tasks/get': {
      const isDone = seen.filter((one) => one === 'tasks/get').length >= 3;
      const done = { status: 'completed', result: { content: [{ type: 'text', text: 'coffee' }] } };
      return { result: { resultType: 'complete', ...TASK, ...(isDone ? done : { status: 'working' }) } };
    }
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

beforeAll(async () => {
  other = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const message = JSON.parse(body) as Request;
      seen.push(message.method);
      const answered = answer(message);
      response.writeHead('error' in answered ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answered }));
    });
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  parts = { port: (other.address() as AddressInfo).port } as TestStack;
});
afterAll(() => void other.close());

test('a server without subscriptions is polled as often as it says', async () => {
  const ended = await run(parts, ['call', 'brew', '--json']);
  expect(documents(ended).map(({ status }) => status)).toEqual(['working', 'completed']);
  expect(ended.code).toBe(0);
  expect(seen.filter((method) => method === 'tasks/get')).toHaveLength(3);
});

test('a server that keeps no list says so in one line', async () => {
  const { code, stderr } = await run(parts, ['list']);
  expect(stderr).toBe("longhaul: the server's operation_list is missing, or is not Longhaul's\n");
  expect(code).toBe(1);
});

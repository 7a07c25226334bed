/** Workflow IDs of the author's choice: each tenant has its own, and those that Temporal can't take are refused. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { nameStart } from '../../engine/start/names.js';
import type { Tool } from '../../operations/tool/index.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { parseTool } from '../../external-workflows/parse.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { projectOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `ids-${randomUUID()}`;
const FILE = `workflow: { type: Ticks, task-queue: ${QUEUE}, id: '{order_id}' }
input: { properties: { order_id: { type: string } }, required: [order_id] }
`;

const toolOf = (file: string) => parseTool(file, 'tools/ids.yaml').value as Tool;

describe('a name', () => {
  const tool = toolOf(FILE.replace("'{order_id}'", "'refund-{order_id}'"));
  const bare = toolOf(FILE);
  const secret = Buffer.alloc(32, 1);
  const idOf = (principal: string, orderId: string, of = tool) =>
    nameStart({ principal, tool: of, args: { order_id: orderId }, options: {} }, secret).workflowId;

  test('is in the tenant of the caller, and as it is without authentication', () => {
    expect(idOf('acme/alice', 'o-17')).toBe('acme/refund-o-17');
    expect(idOf('acme/bob', 'o-17')).toBe('acme/refund-o-17');
    expect(idOf('a%2Fb/alice', 'o-17')).toBe('a%2Fb/refund-o-17');
    expect(idOf(ANONYMOUS, 'o-17')).toBe('refund-o-17');
    // No name of a tenant is one of another.
    expect(idOf('acme/alice', '../other/o-17', bare)).toBe('acme/../other/o-17');
  });

  test.each<[string, string, string]>([
    ['empty', '', 'got an empty text'],
    ['too long in UTF-8', 'é'.repeat(126), 'got 252 bytes'],
    ['with a NUL', 'a\0', 'got control characters'],
    ['of half a character', '\ud800', 'got control characters or lone surrogates'],
  ])('that is %s is refused, with its input', (_what, orderId, problem) => {
    expect(() => idOf('acme/alice', orderId, bare)).toThrow(
      expect.objectContaining({
        kind: 'invalid_arguments',
        message:
          'order_id: "ids" makes its workflow ID of them, {order_id}; expected 1 to 250 bytes without control characters, ' +
          `${problem}${problem.endsWith('characters') ? ' or lone surrogates' : ''}`,
      }),
    );
  });

  test('may be as long as Temporal and its databases allow', () => {
    expect(Buffer.byteLength(idOf('acme/alice', 'x'.repeat(250), bare))).toBe(255);
    expect(idOf(ANONYMOUS, 'x'.repeat(255), bare)).toHaveLength(255);
    expect(() => idOf(ANONYMOUS, 'x'.repeat(256), bare)).toThrow('expected 1 to 255 bytes');
  });
});

describe('two tenants', () => {
  const keys = { alice: '', bob: '', mallory: '' };
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-keys-'));
  let stack: TestStack;
  beforeAll(async () => {
    [keys.alice] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
    [keys.bob] = addApiKey(folder, { tenant: 'acme', subject: 'bob' });
    [keys.mallory] = addApiKey(folder, { tenant: 'other', subject: 'mallory' });
    // Own server: with API keys, and a tool over a queue that nobody polls.
    stack = await TestStack.serverOnSharedWorker({
      LONGHAUL_PROJECT: projectOf({ 'ids.yaml': FILE }),
      LONGHAUL_AUTHENTICATION: 'keys',
      LONGHAUL_KEYS_FOLDER: folder,
    });
  }, PROCESSES_MS);
  afterAll(async () => {
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  test('neither see nor take names of each other; callers of one tenant share them', async () => {
    const { workflow } = await stack.temporal();
    const order = `o-${randomUUID()}`;
    const call = (key: string) => stack.client.as(key).start('ids', { order_id: order });
    const [theirs, ours] = [await call(keys.mallory), await call(keys.alice)];
    try {
      expect((await stack.client.as(keys.mallory).get(theirs)).status).toBe('working');
      expect((await stack.client.as(keys.alice).get(ours)).status).toBe('working');
      await expect(stack.client.as(keys.alice).get(theirs)).rejects.toThrow('-32602');
      await expect(call(keys.bob)).rejects.toThrow(`a workflow with the ID \\"acme/${order}\\" is open`);
      for (const tenant of ['acme', 'other'])
        expect((await workflow.getHandle(`${tenant}/${order}`).describe()).status.name).toBe('RUNNING');
    } finally {
      for (const tenant of ['acme', 'other']) await workflow.getHandle(`${tenant}/${order}`).terminate();
    }
  });

  test('get 400 for a name that Temporal cannot take', async () => {
    const { status, body } = await new JobsClient(stack.base, keys.alice).kickOff('ids', { order_id: '' });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('makes its workflow ID of them');
  });
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Engine } from '../../engine/index.js';
import { defineTool } from '../../operations/tool/index.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { TestStack } from '../support/test-stack.js';

const tool = defineTool({
  name: 'slow_compute',
  description: { does: 'Computes.' },
  input: { type: 'object', properties: { seconds: { type: 'number' } } },
  estimate: { seconds: 1 },
});

let parts: TestStack;
let engine: Engine;
beforeAll(async () => {
  parts = await TestStack.shared();
  engine = await connectEngine(parts.taskQueue, { tools: [tool] });
});
afterAll(async () => {
  await engine?.temporal.close();
  await parts?.stop();
});

test("a list's cursor is valid for its principal and filters only", async () => {
  const anna = `anna-${randomUUID()}`;
  const tokens = new Set<string>();
  for (let count = 0; count < 3; count += 1)
    tokens.add((await engine.start(anna, tool, { seconds: 0 }, { session: 's' })).token);
  const filter = { session: 's', limit: 2 };
  const page = await eventually('the list has them', async () => {
    // An open one that closes between two pages would be on both.
    const { operations } = await engine.list(anna, { session: 's', status: 'completed' });
    return operations.length === 3 ? engine.list(anna, filter) : undefined;
  });
  const cursor = page.nextCursor!;
  for (const query of [{ ...filter, cursor }, { cursor }]) {
    const rest = await engine.list(anna, query);
    const found = [...page.operations, ...rest.operations].map(({ token }) => token);
    expect(new Set(found)).toEqual(tokens);
    expect(rest.operations).toHaveLength(1);
  }
  for (const ask of [
    () => engine.list(`ben-${randomUUID()}`, { ...filter, cursor }),
    () => engine.list('anonymous', { cursor }),
    () => engine.list(anna, { session: 'other', cursor }),
    () => engine.list(anna, { ...filter, status: 'completed' as const, cursor }),
    () => engine.list(anna, { cursor: `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}` }),
    () => engine.list(anna, { cursor: cursor.slice(0, 40) }),
  ])
    await expect(ask()).rejects.toMatchObject({ kind: 'invalid_arguments' });
});

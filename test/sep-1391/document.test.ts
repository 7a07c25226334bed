/** Walks SEP-1391 from its beginning to its end: what clients see. docs/sep-1391.md lists its statements with their tests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { AsyncClient, OPTED_IN } from './client.js';
import { REVISIONS, toolsOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const url = parts.client.url;

describe.each(REVISIONS)('in %s', (revision, connectTo) => {
  const connect = (capabilities?: object) => connectTo(url, capabilities);
  const opted = async () => new AsyncClient(await connect());

  test('the asynchronous example runs as it is written: started, polled, collected', async () => {
    const client = await opted();
    const asyncResponse = await client.wire.request('tools/call', {
      request: { name: 'expensive_analysis', arguments: { dataset: 'large_file.csv' } },
      operation: { keepAlive: 3600 },
    });
    expect(asyncResponse.result).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('has started') }],
      operation: { token: expect.stringMatching(/^[0-9a-f]{32}$/), keepAlive: 3600, status: 'submitted' },
    });
    const { token, pollFrequency } = asyncResponse.result.operation;
    for (;;) {
      const { result: status } = await client.status(token);
      if (status.status === 'completed') {
        const { result } = await client.result(token);
        expect(result.result).toMatchObject({
          content: [{ type: 'text', text: 'large_file.csv has 512 rows' }],
          structuredContent: { dataset: 'large_file.csv', rows: 512 },
        });
        break;
      }
      await sleep(1000 * (pollFrequency ?? 1));
    }
  });

  test('pollFrequency, in seconds, follows the estimate', async () => {
    const client = await opted();
    // Neither has ever completed, so the estimates come from their definitions.
    expect(await client.start('ends_badly', { how: 'fails' })).toMatchObject({ pollFrequency: 1 });
    expect(await client.start('never_ends', {})).toMatchObject({ pollFrequency: 10 });
  });

  test('the synchronous example gives its result at once, also to clients that opted in', async () => {
    for (const wire of [await connect(), await connect({})]) {
      const { result } = await new AsyncClient(wire).call('quick_calculation', { x: 5, y: 10 });
      expect(result.structuredContent).toEqual({ sum: 15 });
      expect(result).not.toHaveProperty('operation');
      expect(result).not.toHaveProperty('_operation');
    }
  });

  test('tools say their invocationMode', async () => {
    const tools = await toolsOf(await connect());
    expect(tools.quick_calculation.invocationMode).toBe('sync');
    for (const name of ['expensive_analysis', 'deep_analysis', 'nightly_report']) {
      expect(tools[name].invocationMode).toBe('async');
      expect(tools[name].description).toContain('experimental.asyncTools');
    }
    expect(tools.operation_get.invocationMode).toBe('sync');
    // SDK clients validate every reply against it, and the immediate one is not the result.
    expect(tools.expensive_analysis).not.toHaveProperty('outputSchema');
    expect(tools.quick_calculation).toHaveProperty('outputSchema');
  });

  test('other clients see no invocationMode and no hidden tool', async () => {
    const tools = await toolsOf(await connect({}));
    expect(JSON.stringify(tools)).not.toContain('invocationMode');
    expect(tools).not.toHaveProperty('deep_analysis');
    const naming = Object.values(tools).filter(({ description }) => /experimental\./.test(description));
    expect(naming.map(({ name }) => name)).toEqual(['operation_get']);
    for (const name of ['quick_calculation', 'expensive_analysis', 'nightly_report'])
      expect(tools).toHaveProperty(name);
    // In 2025-11-25 any call may become a task.
    expect('never_ends' in tools).toBe(revision === '2025-11-25');
    const { error } = await new AsyncClient(await connect({})).call('never_ends', {});
    expect(error?.code).toBe(revision === '2025-11-25' ? -32601 : -32021);
  });

  test('the error for an unknown tool names the tools that its client is shown, and no other', async () => {
    for (const capabilities of [OPTED_IN, {}]) {
      const wire = await connect(capabilities);
      const names = Object.keys(await toolsOf(wire));
      expect(names.includes('deep_analysis')).toBe(capabilities === OPTED_IN);
      const { error } = await new AsyncClient(wire).call('nonesuch', {});
      expect(error).toMatchObject({
        code: -32602,
        message: `unknown tool "nonesuch"; known are ${names.join(', ')}`,
      });
    }
  });

  test('the description says what cancels on HTTP', async () => {
    const { description } = (await toolsOf(await connect())).expensive_analysis;
    expect(description).toContain('operation_cancel');
    // In 2026-07-28 the notification is for stdio only, and the answered call has no stream to close.
    expect(description.includes('notifications/cancelled')).toBe(revision === '2025-11-25');
  });

  test('a call of a hidden tool by another client is -32600', async () => {
    const { error } = await new AsyncClient(await connect({})).call('deep_analysis', {});
    expect(error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('experimental.asyncTools'),
    });
  });

  test('other clients get the plain contract of hybrid tools, and of those whose author wants it', async () => {
    const other = new AsyncClient(await connect({}));
    const hybrid = await other.call('expensive_analysis', { dataset: 'a' });
    expect(hybrid.result.structuredContent).toMatchObject({
      status: 'completed',
      result: { dataset: 'a', rows: 512 },
    });
    const asyncOnly = await other.call('nightly_report', {});
    expect(asyncOnly.result.structuredContent).toMatchObject({ next_action: { tool: 'operation_get' } });
    for (const { result } of [hybrid, asyncOnly]) expect(result).not.toHaveProperty('operation');
  });

  test('both opt-ins are declared to every client, whether or not it opted in', async () => {
    const method = revision === '2026-07-28' ? 'server/discover' : 'initialize';
    const both = { asyncTools: {}, twoStage: {} };
    for (const experimental of [{}, { asyncTools: {} }, both]) {
      const wire = await connect({ experimental });
      const answer: any = 'initialized' in wire ? wire.initialized : await wire.request(method);
      const { capabilities, instructions } = answer.result;
      expect(capabilities.experimental).toEqual(both);
      for (const text of [
        'experimental.asyncTools',
        'docs/sep-1391.md',
        'experimental.twoStage',
        'docs/two-stage.md',
      ])
        expect(instructions).toContain(text);
    }
  });
});

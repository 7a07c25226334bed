import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { encode } from 'gpt-tokenizer';
import { longestWaitSeconds } from '../../mcp-server/shared/known-clients.js';
import { MAILBOX_TOOLS } from '../../mailbox/tools/index.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { STACK_MS } from '../support/limits.js';
import type { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { MAILBOX, SOON } from './agents.js';

jest.setTimeout(STACK_MS);

/** Maximum tokens of the tools' descriptions, and of an idle minute. */
const MOST_TOKENS_OF_TOOLS = 1_700;
const MOST_TOKENS_A_MINUTE = 100;
/** Longest tool name of a client: Claude Code's. */
const TOOL_NAME = 'mcp__longhaul__wait';

interface Cycle {
  /** Time since the first call, in milliseconds. */
  startMs: number;
  endMs: number;
  call: string;
  reply: string;
}

let parts: TestStack;
let client: WireClient;
let cycles: Promise<Cycle[]>;
let heard: Promise<{ withProgress: string[]; without: string[] }>;
beforeAll(async () => {
  // A stack of its own: all callers without authentication share the mailbox of a task queue.
  parts = await TestStack.start(MAILBOX);
  client = parts.client.with({});
  // Both take half a minute; they run at the same time.
  cycles = idleCycles(2);
  heard = quietStreams();
  for (const one of [cycles, heard] as Promise<unknown>[]) one.catch(() => undefined);
});
afterAll(() => parts?.stop());

const textOf = ({ result }: any): string => result.content[0].text;

async function registered(name = `child-${randomUUID().slice(0, 8)}`): Promise<string> {
  const args = { agent_name: name, agent_type: 'test', ...SOON };
  const answer = await client.request('tools/call', { name: 'register_and_wait', arguments: args });
  return JSON.parse(textOf(answer)).agent_id;
}

/** Waits repeatedly with the default time-out. */
async function idleCycles(count: number): Promise<Cycle[]> {
  const agent_id = await registered('code-reviewer-2');
  const made: Cycle[] = [];
  const began = Date.now();
  for (let index = 0; index < count; index += 1) {
    const startMs = Date.now() - began;
    const reply = textOf(await client.request('tools/call', { name: 'wait', arguments: { agent_id } }));
    const call = `${TOOL_NAME}${JSON.stringify({ agent_id })}`;
    made.push({ startMs, endMs: Date.now() - began, call, reply });
  }
  return made;
}

/** Events on the streams of calls that wait for 32 s, in both revisions, with and without a progress token. */
async function quietStreams(): Promise<{ withProgress: string[]; without: string[] }> {
  const older = await LegacyClient.open(parts.client.url);
  const both = async (more: object) => {
    const params = async () => ({
      name: 'wait',
      arguments: { agent_id: await registered(), timeout_seconds: 33 },
      ...more,
    });
    const [one, other] = [await params(), await params()];
    const responses = await Promise.all([
      client.post(JSON.stringify(client.envelope('tools/call', one)), client.headers('tools/call', one)),
      older.post(older.message('tools/call', other)),
    ]);
    return Promise.all(responses.map((response) => response.text()));
  };
  const [withProgress, without] = await Promise.all([both({ _meta: { progressToken: 'p' } }), both({})]);
  return { withProgress, without };
}

describe('an idle agent', () => {
  test('costs its model fewer than 100 tokens a minute at the default time-out', async () => {
    const made = await cycles;
    for (const { reply } of made) expect(reply).toBe('{"nw":true}');
    const tokens = made.map(({ call, reply }) => encode(call).length + encode(reply).length);
    // The first wait is short, the second longer; the third begins within the same minute and is the longest.
    expect(made[0]!.endMs).toBeLessThan(15_000);
    expect(made[1]!.endMs - made[1]!.startMs).toBeGreaterThan(25_000);
    const firstMinute = tokens[0]! + tokens[1]! + Math.max(...tokens);
    expect(firstMinute).toBeLessThan(MOST_TOKENS_A_MINUTE);
    const limits = [undefined, 'claude-code', 'codex-mcp-client', 'opencode', 'claude-ai', 'goose'];
    const perMinute = limits.map(
      (name) => (Math.max(...tokens) * 60) / Math.min(60, longestWaitSeconds(name)),
    );
    for (const each of perMinute) expect(each).toBeLessThan(MOST_TOKENS_A_MINUTE);
    console.log(
      `idle: ${tokens.join(' + ')} tokens a cycle; ${firstMinute} in the first minute, ${Math.round(perMinute[1]!)} to ${Math.round(perMinute[0]!)} in each later one`,
    );
  });

  test('gets progress twice in 32 s if it asks for it, else comments, in both revisions', async () => {
    const { withProgress, without } = await heard;
    for (const stream of withProgress) {
      const progress = stream
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)))
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params);
      expect(progress.length).toBeGreaterThanOrEqual(2);
      const amounts = progress.map(({ progress: amount }) => amount);
      expect(amounts).toEqual(amounts.toSorted((one, next) => one - next));
      for (const { progressToken } of progress) expect(progressToken).toBe('p');
    }
    for (const stream of without) expect(stream.match(/^:/gm)?.length).toBeGreaterThanOrEqual(2);
    for (const stream of [...withProgress, ...without]) expect(stream).toContain('{\\"nw\\":true}');
  });

  test('has tools with short descriptions', () => {
    const described = Object.values(MAILBOX_TOOLS).map((toolOf) => {
      const { name, description, inputSchema } = toolOf(undefined as never);
      return JSON.stringify({ name, description, inputSchema });
    });
    const tokens = described.map((text) => encode(text).length).reduce((sum, one) => sum + one, 0);
    expect(tokens).toBeLessThan(MOST_TOKENS_OF_TOOLS);
    console.log(`the tools of the mailbox: ${tokens} tokens, once`);
  });
});

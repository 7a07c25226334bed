/** Agents without work: what a wait costs a model, and what its client hears meanwhile. */
import { expect, test } from '@jest/globals';
import { encode } from 'gpt-tokenizer';
import { longestWaitSeconds } from '../../mcp-server/call/known-clients.js';
import { MAILBOX_TOOLS } from '../../mailbox/tools/index.js';
import { LONG_SECONDS } from '../../mailbox/tools/waiting.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { MAILBOX, SOON } from './agents.js';

/** Maximum tokens of the tools' descriptions, and of an idle minute. */
const MOST_TOKENS_OF_TOOLS = 1_700;
const MOST_TOKENS_A_MINUTE = 100;
/** Longest tool name of a client: Claude Code's. */
const TOOL_NAME = 'mcp__longhaul__wait';

const parts = await forAllTests(TestStack.serverOnSharedWorker(MAILBOX));
const client = parts.client.with({});
const registration = { agent_name: 'code-reviewer-2', agent_type: 'test', ...SOON };
const { result } = await inSetUp(client.call('register_and_wait', registration));
const { agent_id } = JSON.parse(result.content[0].text);

test('an idle minute costs a model fewer than 100 tokens, with the time limits of each client', () => {
  const call = `${TOOL_NAME}${JSON.stringify({ agent_id })}`;
  const tokens = encode(call).length + encode('{"nw":true}').length;
  for (const name of [undefined, 'claude-code', 'codex-mcp-client', 'opencode', 'claude-ai', 'goose'])
    expect((tokens * 60) / Math.min(LONG_SECONDS, longestWaitSeconds(name))).toBeLessThan(
      MOST_TOKENS_A_MINUTE,
    );
});

test('the tools have short descriptions', () => {
  const described = Object.values(MAILBOX_TOOLS).map((toolOf) => {
    const { name, description, inputSchema } = toolOf(undefined as never);
    return JSON.stringify({ name, description, inputSchema });
  });
  const tokens = described.map((text) => encode(text).length).reduce((sum, one) => sum + one, 0);
  expect(tokens).toBeLessThan(MOST_TOKENS_OF_TOOLS);
});

test('an idle client gets progress twice in 32 s if it asks for it', async () => {
  const { result, notifications } = await client.request('tools/call', {
    name: 'wait',
    arguments: { agent_id, timeout_seconds: 33 },
    _meta: { progressToken: 'p' },
  });
  expect(result.content[0].text).toBe('{"nw":true}');
  const progress = notifications.filter(({ method }: any) => method === 'notifications/progress');
  expect(progress.length).toBeGreaterThanOrEqual(2);
  expect(new Set(progress.map(({ params }: any) => params.progressToken))).toEqual(new Set(['p']));
  const amounts: number[] = progress.map(({ params }: any) => params.progress);
  expect(amounts).toEqual(amounts.toSorted((one, next) => one - next));
});

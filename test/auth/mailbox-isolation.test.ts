/**
 * The mailbox of one caller is no other's: in every tool, others' agents and messages answer like unknown ones, for a caller of the
 * same tenant and for the same subject in another one, and nothing of theirs is changed.
 */
import { expect, test } from '@jest/globals';
import { MAILBOX_TOOL_NAMES } from '../../mailbox/tool-names.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { MAILBOX } from '../mailbox/agents.js';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

interface Ids {
  agent_name: string;
  agent_id: string;
  message_id: string;
}

/** IDs that nobody has, of the form of the owner's. */
const UNKNOWN: Ids = {
  agent_name: 'agent-of-nobody',
  agent_id: 'agent-of-nobody.1.123456789',
  message_id: 'agent-of-nobody~123456789012',
};

/** Tool -> arguments for somebody's agent and message. */
const CALLS: Record<string, (ids: Ids) => object> = {
  bye: ({ agent_name, agent_id }) => ({ agent_name, agent_id }),
  check_inbox: ({ agent_name }) => ({ agent_name }),
  check_replies: ({ message_id }) => ({ message_id }),
  check_status: ({ agent_name }) => ({ parent: agent_name }),
  dead_letters: ({ agent_name }) => ({ agent_name }),
  'dead_letters, drop': ({ message_id, agent_id }) => ({ action: 'drop', message_id, agent_id }),
  'dead_letters, resend': ({ message_id, agent_id }) => ({ action: 'resend', message_id, agent_id }),
  register_and_wait: ({ agent_name, agent_id }) => ({
    agent_name,
    agent_id,
    agent_type: 'test',
    timeout_seconds: 0.1,
  }),
  report_progress: ({ agent_id, message_id }) => ({ agent_id, message_id, text: 'half' }),
  respond_and_wait: ({ agent_id, message_id }) => ({
    agent_id,
    response_to: message_id,
    response: 'done',
    timeout_seconds: 0.1,
  }),
  send_message: ({ agent_id }) => ({ agent_id, content: 'x', to: 'nobody' }),
  wait: ({ agent_id }) => ({ agent_id, timeout_seconds: 0.1 }),
};

const keys = { alice: '', bob: '', other: '' };

/** A tool's answer: its JSON, or the error that the model reads. */
async function call(key: string, name: string, args: object): Promise<any> {
  const client = new WireClient(`${stack.base}/mcp`, {}, 'longhaul-tests', key);
  const { result, error } = await client.call(name.split(',')[0]!, args);
  if (!result || result.isError) return { error, result };
  return JSON.parse(result.content[0].text);
}

const folder = temporaryFolder('keys');
[keys.alice] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
[keys.bob] = addApiKey(folder, { tenant: 'acme', subject: 'bob' });
[keys.other] = addApiKey(folder, { tenant: 'other', subject: 'alice' });
// Own stack: with the mailbox and API keys.
const stack = await forAllTests(
  TestStack.start({ ...MAILBOX, LONGHAUL_AUTHENTICATION: 'keys', LONGHAUL_KEYS_FOLDER: folder }),
);
const sent = await inSetUp(
  call(keys.alice, 'send_message', { content: 'secret plan', to: 'agent-of-alice' }),
);
const joined = await inSetUp(
  call(keys.alice, 'register_and_wait', { agent_name: 'agent-of-alice', agent_type: 'test' }),
);
const theirs: Ids = { agent_name: 'agent-of-alice', agent_id: joined.agent_id, message_id: sent.id };
expect(Object.values(theirs)).not.toContain(undefined);
expect(joined).toMatchObject({ id: theirs.message_id, m: 'secret plan' });

/** An answer without the IDs that it was asked about. */
function comparable(answer: unknown, ids: Ids): string {
  return Object.entries(ids).reduce(
    (text, [field, id]) => text.replaceAll(id, field),
    JSON.stringify(answer),
  );
}

test('every tool is among the calls', () => {
  const called = new Set(Object.keys(CALLS).map((name) => name.split(',')[0]));
  expect([...called].sort()).toEqual([...MAILBOX_TOOL_NAMES].sort());
});

test.each(Object.entries(CALLS))("%s: others' answer like unknown ones", async (name, argumentsOf) => {
  for (const key of [keys.bob, keys.other]) {
    const about = async (ids: Ids) => comparable(await call(key, name, argumentsOf(ids)), ids);
    const answer = await about(theirs);
    expect(answer).toBe(await about(UNKNOWN));
    expect(answer).not.toContain('secret plan');
  }
});

test('nothing of theirs has changed', async () => {
  const replies = () => call(keys.alice, 'check_replies', { message_id: theirs.message_id });
  expect(await replies()).toMatchObject({ state: { 'agent-of-alice': 'delivered' } });
  expect(await call(keys.alice, 'respond_and_wait', CALLS['respond_and_wait']!(theirs))).toEqual({
    nw: true,
  });
  expect(await replies()).toMatchObject({ r: { 'agent-of-alice': 'done' } });
});

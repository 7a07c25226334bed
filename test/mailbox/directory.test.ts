/** The directory of many agents: concurrent registrations, shards and limits. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { WorkflowCalls } from '../../mailbox/client/workflows.js';
import { Enlistments } from '../../mailbox/client/enlist.js';
import { jsonBytes } from '../../mailbox/json-size.js';
import { AGENTS_LIMIT, CAPABILITIES_LIMIT, STATUS_PAGE_LIMIT } from '../../mailbox/limits.js';
import { DIRECTORY_SHARDS, shardsOf } from '../../mailbox/shards.js';
import type { DirectoryInput, DirectoryState, ListedAgent } from '../../mailbox/state.js';
import { agentsQuery, DIRECTORY_WORKFLOW, type AgentsResult } from '../../mailbox/wire.js';
import { AgentList } from '../../mailbox/workflows/agents.js';
import { eventually } from '../stack/cli-process.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import {
  join,
  messageOf,
  openMailbox,
  longWait,
  secret,
  newPrincipal,
  workflowId,
  type MailboxProcess,
} from './support.js';

const STORM = 150;
/** Maximum agents of a home directory in these tests, so that few agents need shards. */
const HOME_AGENTS = 3;

// A stack of its own: its worker is stopped for a while.
const parts = await forAllTests(TestStack.start({ LONGHAUL_MAILBOX: '1' }));
const server = await inSetUp(openMailbox(parts));
const small = await inSetUp(openMailbox(parts, { homeAgents: HOME_AGENTS }));
afterAllTests(() => Promise.all([server, small].map((one) => one.temporal.close())));

const namesOf = async ({ mailbox }: MailboxProcess, who: string) =>
  (await mailbox.status(who, { limit: STATUS_PAGE_LIMIT })).agents.map(({ name }) => name);

const directory = (who: string, shard?: number) =>
  server.temporal.client.workflow.getHandle(
    workflowId(parts, who, `directory${shard === undefined ? '' : `:${shard}`}`),
  );

/** The agents of a directory; empty if it doesn't exist. */
const listedIn = (who: string, shard?: number): Promise<ListedAgent[]> =>
  directory(who, shard)
    .query<AgentsResult>(agentsQuery)
    .then(
      ({ agents }) => agents,
      () => [],
    );

const allShards = Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => shard);

/** Number of accepted updates of a workflow's current run. */
async function updatesOf(id: string): Promise<number> {
  const { events } = await server.temporal.client.workflow.getHandle(id).fetchHistory();
  return events!.filter(({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) => accepted).length;
}

/** Starts a directory with a given state. */
async function startDirectory(who: string, state: DirectoryState, shard?: number): Promise<void> {
  const input: DirectoryInput = { principal: who, continueAfterChanges: 150, state };
  await server.temporal.client.workflow.start(DIRECTORY_WORKFLOW, {
    workflowId: directory(who, shard).workflowId,
    taskQueue: parts.taskQueue,
    args: [input],
    memo: { mailbox: { version: 1, principal: who, wanted: [] } },
  });
}

const stateOf = (agents: ListedAgent[]): DirectoryState => ({
  agents: Object.fromEntries(agents.map((agent) => [agent.name, agent])),
  offers: [],
  publications: [],
});

const listed = (name: string, capabilities: string[] = []): ListedAgent => ({
  name,
  type: 'test',
  capabilities,
  epoch: 1,
});

test('agents that register at once at one server are all listed, each once, and no call fails', async () => {
  const names = Array.from({ length: STORM }, (_, index) => `storm-${index}`);
  const answers = await Promise.all(
    names.map(async (agent_name) => {
      const { result } = await parts.client.call('register_and_wait', {
        agent_name,
        agent_type: 'storm',
        capabilities: ['all'],
        timeout_seconds: 0.01,
      });
      return result.isError ? result.content[0].text : JSON.parse(result.content[0].text);
    }),
  );
  for (const answer of answers) expect(answer).toEqual({ agent_id: expect.any(String), nw: true });
  const who = 'anonymous';
  expect(await namesOf(server, who)).toEqual(names.toSorted());
  const entries = (await Promise.all([undefined, ...allShards].map((shard) => listedIn(who, shard)))).flat();
  expect(entries.map(({ name }) => name).sort()).toEqual(names.toSorted());
  for (const name of names) expect(await updatesOf(workflowId(parts, who, `inbox:${name}`))).toBe(1);
  const sent = await server.mailbox.send(who, {
    to: { all: { capability: 'all' } },
    content: 'to all',
    mode: 'm',
  });
  expect(sent.recipients).toEqual(names.toSorted());
});

test('agents that are enlisted at the same time cost the directory a few updates, and none when nothing changes', async () => {
  const who = newPrincipal();
  const workflows = new WorkflowCalls(server.temporal, secret).of(who);
  const enlistments = new Enlistments(STORM);
  const agents = Array.from({ length: STORM }, (_, index) => listed(`batch-${index}`));
  const enlistAll = () =>
    Promise.all(agents.map((agent) => enlistments.enlist(workflows, { ...agent, isForced: false })));
  await enlistAll();
  expect(await listedIn(who)).toHaveLength(STORM);
  const home = directory(who).workflowId;
  // The first update has one agent, each of the others a hundred at most.
  expect(await updatesOf(home)).toBe(3);
  await enlistAll();
  expect(await updatesOf(home)).toBe(3);
});

test('a few agents need one directory; more are in shards, and are found, sent to and ended like the first', async () => {
  const who = newPrincipal();
  const agents = new Map<string, string>();
  const add = async (name: string) => agents.set(name, await join(small, who, name, { capabilities: ['x'] }));
  const names = Array.from({ length: 12 }, (_, index) => `agent-${index}`);
  for (const name of names.slice(0, HOME_AGENTS)) await add(name);
  await expect(directory(who, shardsOf(names[0]!)[0]).describe()).rejects.toThrow();
  expect(await listedIn(who)).toHaveLength(HOME_AGENTS);
  await Promise.all(names.slice(HOME_AGENTS).map(add));
  // Another server finds all of them at once.
  expect(await namesOf(server, who)).toEqual(names.toSorted());
  for (const name of names.slice(HOME_AGENTS))
    expect(await listedIn(who, shardsOf(name)[0])).toContainEqual(expect.objectContaining({ name }));
  const late = 'agent-11';
  const { messageId } = await server.mailbox.send(who, {
    to: { anyone: { names: [late] } },
    content: 'claimed',
    mode: 'm',
  });
  expect(messageOf(await small.mailbox.receive(who, agents.get(late)!, longWait())).messageId).toBe(
    messageId,
  );
  const all = await server.mailbox.send(who, { to: { all: { capability: 'x' } }, content: 'all', mode: 'm' });
  expect(all.recipients).toEqual(names.toSorted());
  await small.mailbox.bye(who, late);
  const [shard] = shardsOf(late);
  await eventually('the shard knows that it has left', async () =>
    (await listedIn(who, shard)).some(({ name, hasLeft }) => name === late && hasLeft),
  );
  await join(small, who, late, { capabilities: ['x', 'y'] });
  expect(await listedIn(who, shard)).toContainEqual(
    expect.objectContaining({ name: late, capabilities: ['x', 'y'] }),
  );
  const entries = (await Promise.all([undefined, ...allShards].map((one) => listedIn(who, one)))).flat();
  expect(entries).toHaveLength(names.length);
});

test('the limit on agents counts those in shards, and one that leaves makes room for another', async () => {
  const who = newPrincipal();
  const left = AGENTS_LIMIT - HOME_AGENTS;
  const fill = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => listed(`${prefix}-${index}`));
  await startDirectory(who, stateOf(fill(HOME_AGENTS, 'home')));
  const last = shardsOf('newcomer').at(-1)!;
  for (const shard of allShards) {
    const share = Math.floor((left + shard) / DIRECTORY_SHARDS);
    // All shards are full except the last one in the new agent's order of lookup.
    await startDirectory(who, stateOf(fill(share - (shard === last ? 1 : 0), `in-${shard}`)), shard);
  }
  const newcomer = await join(small, who, 'newcomer');
  expect((await listedIn(who, last)).map(({ name }) => name)).toContain('newcomer');
  await expect(join(small, who, 'too-many')).rejects.toMatchObject({
    kind: 'wrong_state',
    message: expect.stringContaining(`at most ${AGENTS_LIMIT}`),
  });
  await small.mailbox.bye(who, 'newcomer', newcomer);
  await eventually('the last shard knows that it has left', async () =>
    (await listedIn(who, last)).some(({ name, hasLeft }) => name === 'newcomer' && hasLeft),
  );
  await join(small, who, 'too-many');
  expect((await listedIn(who, last)).map(({ name }) => name)).toContain('too-many');
});

test('a list of agents has a limit in bytes, which also holds for one that registers again with more', () => {
  const list = new AgentList({});
  const long = (name: string) =>
    listed(
      name,
      Array.from({ length: CAPABILITIES_LIMIT }, (_, index) => `${index}`.padEnd(64, '\u00e9')),
    );
  const agents = Array.from({ length: AGENTS_LIMIT }, (_, index) => `agent-${index}`);
  for (const name of agents.slice(0, 10)) list.put(listed(name), AGENTS_LIMIT);
  const taken = agents.slice(10).filter((name) => {
    const hasRoom = list.hasRoom(long(name), AGENTS_LIMIT);
    if (hasRoom) list.put(long(name), AGENTS_LIMIT);
    return hasRoom;
  });
  const bytes = jsonBytes(list.toRecord());
  expect(bytes).toBeLessThanOrEqual(300 * 1024);
  expect(bytes).toBeGreaterThan(300 * 1024 - jsonBytes(long('agent-0')) - 100);
  expect(list.hasRoom(long('agent-0'), AGENTS_LIMIT)).toBe(false);
  expect(list.hasRoom({ ...listed('agent-0'), epoch: 2 }, AGENTS_LIMIT)).toBe(true);
  list.leave({ name: taken[0]!, epoch: 1, isForgotten: false });
  expect(list.hasRoom(long('agent-0'), AGENTS_LIMIT)).toBe(true);
  list.put(long('agent-0'), AGENTS_LIMIT);
  expect(list.find(taken[0]!)).toBeUndefined();
  expect(jsonBytes(list.toRecord())).toBeLessThanOrEqual(300 * 1024);
});

test('a registration whose answer was lost takes nothing over: the repeat is the same update', async () => {
  const who = newPrincipal();
  const name = `lost-${randomUUID().slice(0, 8)}`;
  const worker = parts.parts[1]!;
  worker.process.kill('SIGSTOP');
  const registering = server.mailbox.register(who, { name, type: 'test', capabilities: [] });
  registering.catch(() => undefined);
  // Longer than the deadline of one attempt, 5 s, and well within the time after which calls fail, 20 s.
  await delay(6_000);
  worker.process.kill('SIGCONT');
  expect(await registering).toMatchObject({ isTakeover: false });
  expect(await updatesOf(workflowId(parts, who, `inbox:${name}`))).toBe(1);
});

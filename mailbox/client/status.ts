/** Who is there: the directory's lists, and each agent's state from its inbox's memo. */
import {
  assertStatusOptions,
  GONE_AFTER_MS,
  STATUS_PAGE,
  type AgentState,
  type AgentStatus,
  type MailboxStatus,
  type StatusOptions,
} from '../types.js';
import { AGENTS_QUERY, DIRECTORY_SHARDS, type AgentsAnswer, type InboxMemo, type Listed } from '../wire.js';
import { eachOf } from './each.js';
import type { MailboxWorkflows } from './workflows.js';

/** How long one of many inboxes may take to be read, in milliseconds: the machine may be busy with messages to all of them. */
const DESCRIBE_DEADLINE_MS = 10_000;

/**
 * A page of the agents, by name. Its cursor is the name of its last agent, so that agents that come and go meanwhile shift
 * nothing.
 *
 * @throws LonghaulError `invalid_arguments`; `unavailable`, also while there is no worker
 */
export async function pageOfAgents(
  workflows: MailboxWorkflows,
  principal: string,
  options: StatusOptions = {},
): Promise<MailboxStatus> {
  assertStatusOptions(options);
  const { parent, cursor, limit = STATUS_PAGE } = options;
  const { agents: listed, offers } = await listedAgents(workflows, principal);
  const rest = listed
    .filter((agent) => parent === undefined || agent.parent === parent)
    .filter(({ name }) => cursor === undefined || name > cursor)
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const page = rest.slice(0, limit);
  const nextCursor = rest.length > limit ? page.at(-1)!.name : undefined;
  const agents = await statusesOf(workflows, principal, page);
  return { agents, offers, ...(nextCursor === undefined ? {} : { nextCursor }) };
}

/** All agents that are wanted, by name. @throws LonghaulError `unavailable`, also while there is no worker */
export async function agentsOf(
  workflows: MailboxWorkflows,
  principal: string,
  isWanted: (agent: Listed) => boolean,
): Promise<AgentStatus[]> {
  const { agents } = await listedAgents(workflows, principal);
  return statusesOf(workflows, principal, agents.filter(isWanted));
}

/** The agents of the home directory and of its shards. One that several of them list is as its latest life registered it. */
async function listedAgents(
  workflows: MailboxWorkflows,
  principal: string,
): Promise<{ agents: Listed[]; offers: number }> {
  const query = (shard?: number) =>
    workflows.query<AgentsAnswer>(workflows.directoryOf(principal, shard), AGENTS_QUERY);
  const home = await query();
  const shards = home?.isSharded
    ? await Promise.all(Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => query(shard)))
    : [];
  const listed = new Map<string, Listed>();
  for (const agent of [home, ...shards].flatMap((answer) => answer?.agents ?? []))
    if ((listed.get(agent.name)?.epoch ?? -1) < agent.epoch) listed.set(agent.name, agent);
  return { agents: [...listed.values()], offers: home?.offers ?? 0 };
}

async function statusesOf(
  workflows: MailboxWorkflows,
  principal: string,
  listed: Listed[],
): Promise<AgentStatus[]> {
  const agents: AgentStatus[] = [];
  await eachOf(listed, async ({ name }) => {
    const memo = await workflows.describeInbox(principal, name, DESCRIBE_DEADLINE_MS);
    if (memo?.registration) agents.push(statusOf(memo));
  });
  return agents.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function statusOf(memo: InboxMemo): AgentStatus {
  const { name, type, capabilities, parent } = memo.registration!;
  const { queued, leaseUntil, dead, signedAt } = memo;
  return {
    name,
    type,
    capabilities,
    ...(parent === undefined ? {} : { parent }),
    state: stateOf(memo),
    queued: queued - (leaseUntil === undefined || leaseUntil <= Date.now() ? 0 : 1),
    ...(dead === undefined ? {} : { deadLetters: dead }),
    lastSeenAt: new Date(signedAt).toISOString(),
  };
}

function stateOf({ isBye, leaseUntil, signedAt, awayAt }: InboxMemo): AgentState {
  const now = Date.now();
  if (isBye || now - signedAt > GONE_AFTER_MS) return 'gone';
  if (leaseUntil !== undefined) return leaseUntil > now ? 'busy' : 'gone';
  return awayAt === undefined ? 'waiting' : 'away';
}

/** Status of agents, from the directory's lists and the memos of their inboxes. */
import { GONE_AFTER_MS, STATUS_PAGE } from '../limits.js';
import { DIRECTORY_SHARDS } from '../shards.js';
import type { InboxMemo, ListedAgent } from '../state.js';
import type { AgentState, AgentStatus, MailboxStatus, StatusOptions } from '../types.js';
import { assertStatusOptions } from '../validate.js';
import { agentsQuery } from '../wire.js';
import { mapConcurrently } from './map-concurrently.js';
import type { MailboxWorkflows } from './workflows.js';

/** Deadline for describing one of many inboxes, in milliseconds: messages to all of them may keep the machine busy. */
const DESCRIBE_DEADLINE_MS = 10_000;

/**
 * A page of the agents, by name. The cursor is its last agent's name, so agents that register or leave don't shift the pages.
 *
 * @throws LonghaulError `invalid_arguments`; `unavailable`, also while there is no worker
 */
export async function pageOfAgents(
  workflows: MailboxWorkflows,
  options: StatusOptions = {},
): Promise<MailboxStatus> {
  assertStatusOptions(options);
  const { parent, cursor, limit = STATUS_PAGE } = options;
  const { agents: listed, offers } = await listedAgents(workflows);
  const rest = listed
    .filter((agent) => parent === undefined || agent.parent === parent)
    .filter(({ name }) => cursor === undefined || name > cursor)
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const page = rest.slice(0, limit);
  const nextCursor = rest.length > limit ? page.at(-1)!.name : undefined;
  const agents = await statusesOf(workflows, page);
  return { agents, offers, nextCursor };
}

/** All matching agents, by name. @throws LonghaulError `unavailable`, also while there is no worker */
export async function agentsOf(
  workflows: MailboxWorkflows,
  isMatch: (agent: ListedAgent) => boolean,
): Promise<AgentStatus[]> {
  const { agents } = await listedAgents(workflows);
  return statusesOf(workflows, agents.filter(isMatch));
}

/** Agents of the home directory and its shards. If an agent has several entries, its latest session's counts. */
async function listedAgents(workflows: MailboxWorkflows): Promise<{ agents: ListedAgent[]; offers: number }> {
  const query = (shard?: number) => workflows.directory(shard).query(agentsQuery);
  const home = await query();
  const shards = home?.isSharded
    ? await Promise.all(Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => query(shard)))
    : [];
  const listed = new Map<string, ListedAgent>();
  for (const agent of [home, ...shards].flatMap((answer) => answer?.agents ?? []))
    if ((listed.get(agent.name)?.epoch ?? -1) < agent.epoch) listed.set(agent.name, agent);
  return { agents: [...listed.values()], offers: home?.offers ?? 0 };
}

async function statusesOf(workflows: MailboxWorkflows, listed: ListedAgent[]): Promise<AgentStatus[]> {
  const memos = await mapConcurrently(listed, ({ name }) =>
    workflows.inbox(name).describe(DESCRIBE_DEADLINE_MS),
  );
  return memos
    .flatMap((memo) => (memo?.registration ? [statusOf(memo, workflows.temporal.time.nowMs)] : []))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function statusOf(memo: InboxMemo, nowMs: number): AgentStatus {
  const { name, type, capabilities, parent } = memo.registration!;
  const { queued, leaseUntil, dead, signedAt } = memo;
  return {
    name,
    type,
    capabilities,
    parent,
    state: stateOf(memo, nowMs),
    queued: queued - (leaseUntil === undefined || leaseUntil <= nowMs ? 0 : 1),
    deadLetters: dead,
    lastSeenAt: new Date(signedAt).toISOString(),
  };
}

export function stateOf({ isBye, leaseUntil, signedAt, awayAt }: InboxMemo, nowMs: number): AgentState {
  if (isBye || nowMs - signedAt > GONE_AFTER_MS) return 'gone';
  if (leaseUntil !== undefined) return leaseUntil > nowMs ? 'busy' : 'gone';
  return awayAt === undefined ? 'waiting' : 'away';
}

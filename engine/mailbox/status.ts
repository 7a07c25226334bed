/** Who is there: the directory's lists, and each agent's state from its inbox's memo. */
import {
  GONE_AFTER_MS,
  type AgentState,
  type AgentStatus,
  type MailboxStatus,
} from '../../operations/mailbox.js';
import {
  AGENTS_QUERY,
  DIRECTORY_SHARDS,
  type AgentsAnswer,
  type InboxMemo,
  type Listed,
} from '../../operations/mailbox-wire.js';
import { eachOf } from './each.js';
import type { MailboxWorkflows } from './workflows.js';

/** How long one of many inboxes may take to be read, in milliseconds: the machine may be busy with messages to all of them. */
const DESCRIBE_DEADLINE_MS = 10_000;

/** @throws LonghaulError `unavailable`, also while there is no worker */
export async function agentsOf(
  workflows: MailboxWorkflows,
  principal: string,
  isWanted: (agent: Listed) => boolean = () => true,
): Promise<MailboxStatus> {
  const { listed, offers } = await listedOf(workflows, principal);
  const agents: AgentStatus[] = [];
  await eachOf(listed.filter(isWanted), async ({ name }) => {
    const memo = await workflows.describeInbox(principal, name, DESCRIBE_DEADLINE_MS);
    if (memo?.registration) agents.push(statusOf(memo));
  });
  agents.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { agents, offers };
}

/** The agents of the home directory and of its shards. One that several of them list is as its latest life registered it. */
async function listedOf(
  workflows: MailboxWorkflows,
  principal: string,
): Promise<{ listed: Listed[]; offers: number }> {
  const query = (shard?: number) =>
    workflows.query<AgentsAnswer>(workflows.directoryOf(principal, shard), AGENTS_QUERY);
  const home = await query();
  const shards = home?.isSharded
    ? await Promise.all(Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => query(shard)))
    : [];
  const listed = new Map<string, Listed>();
  for (const agent of [home, ...shards].flatMap((answer) => answer?.agents ?? []))
    if ((listed.get(agent.name)?.epoch ?? -1) < agent.epoch) listed.set(agent.name, agent);
  return { listed: [...listed.values()], offers: home?.offers ?? 0 };
}

function statusOf(memo: InboxMemo): AgentStatus {
  const { name, type, capabilities, parent } = memo.registration!;
  return {
    name,
    type,
    capabilities,
    ...(parent === undefined ? {} : { parent }),
    state: stateOf(memo),
    queued: memo.queued - (memo.leaseUntil === undefined || memo.leaseUntil <= Date.now() ? 0 : 1),
    lastSeenAt: new Date(memo.signedAt).toISOString(),
  };
}

function stateOf({ isBye, leaseUntil, signedAt }: InboxMemo): AgentState {
  const now = Date.now();
  if (isBye || now - signedAt > GONE_AFTER_MS) return 'gone';
  if (leaseUntil === undefined) return 'waiting';
  return leaseUntil > now ? 'busy' : 'gone';
}

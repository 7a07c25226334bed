/** Who is there: the directory's list, and each agent's state from its inbox's memo. */
import {
  GONE_AFTER_MS,
  type AgentState,
  type AgentStatus,
  type MailboxStatus,
} from '../../operations/mailbox.js';
import { AGENTS_QUERY, type InboxMemo, type Listed } from '../../operations/mailbox-wire.js';
import { eachOf } from './each.js';
import type { MailboxWorkflows } from './workflows.js';

/** @throws LonghaulError `unavailable`, also while there is no worker */
export async function agentsOf(
  workflows: MailboxWorkflows,
  principal: string,
  isWanted: (agent: Listed) => boolean = () => true,
): Promise<MailboxStatus> {
  const directory = workflows.directoryOf(principal);
  const known = await workflows.query<{ agents: Listed[]; offers: number }>(directory, AGENTS_QUERY);
  const agents: AgentStatus[] = [];
  await eachOf((known?.agents ?? []).filter(isWanted), async ({ name }) => {
    const memo = await workflows.describeInbox(principal, name);
    if (memo?.registration) agents.push(statusOf(memo));
  });
  agents.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { agents, offers: known?.offers ?? 0 };
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

/** Gauges of the task queue's mailboxes: agents, messages and dead letters, read from the memos in visibility. */
import { listRuns } from '../../engine/list/current-runs.js';
import { countingIntervalMs, secondsFrom } from '../../engine/metrics/index.js';
import { decodeMemo } from '../../engine/read/history.js';
import type { TemporalClient } from '../../engine/temporal/client.js';
import { Background } from '../../platform/observe/metrics/background.js';
import { gauge, onScrape } from '../../platform/observe/metrics/index.js';
import { quote } from '../../platform/temporal/visibility-query.js';
import type { DirectoryMemo, InboxMemo } from '../state.js';
import type { AgentState } from '../types.js';
import { DIRECTORY_WORKFLOW, INBOX_WORKFLOW, MAILBOX_MEMO } from '../wire.js';
import { stateOf } from './status.js';

const PAGE_RUNS = 1_000;

/** State of an unacknowledged message: in an inbox, with its agent, or waiting for any agent. */
type MessageState = 'queued' | 'delivered' | 'offered';

export interface MailboxReadings {
  agents: Record<AgentState, number>;
  messages: Record<MessageState, number>;
  deadLetters: number;
  /** When the oldest unacknowledged message was sent, in epoch milliseconds. */
  oldestSentMs: number | undefined;
  callCount: number;
}

/** @returns removes them */
export function registerMailboxGauges(temporal: TemporalClient): () => void {
  const mailboxes = new Background<MailboxReadings>(countingIntervalMs, () => readMailboxes(temporal));
  const ends = [
    onScrape(() => {
      if (temporal.isConnected) mailboxes.refresh();
    }),
    gauge('longhaul_mailbox_agents', () => mailboxes.map(({ agents }) => byState(agents))),
    gauge('longhaul_mailbox_messages', () => mailboxes.map(({ messages }) => byState(messages))),
    gauge('longhaul_mailbox_oldest_message_age_seconds', () =>
      mailboxes.map(({ oldestSentMs }) => [[{}, secondsFrom(oldestSentMs, temporal.time.nowMs)]]),
    ),
    gauge('longhaul_mailbox_dead_letters', () => mailboxes.map(({ deadLetters }) => [[{}, deadLetters]])),
  ];
  return () => ends.forEach((end) => end());
}

function byState(counts: Record<string, number>): [{ state: string }, number][] {
  return Object.entries(counts).map(([state, count]) => [{ state }, count]);
}

/** Costs a call per thousand agents. @throws LonghaulError `unavailable` */
export async function readMailboxes(temporal: TemporalClient): Promise<MailboxReadings> {
  const readings: MailboxReadings = {
    agents: { waiting: 0, busy: 0, away: 0, gone: 0 },
    messages: { queued: 0, delivered: 0, offered: 0 },
    deadLetters: 0,
    oldestSentMs: undefined,
    callCount: 0,
  };
  const types = [INBOX_WORKFLOW, DIRECTORY_WORKFLOW].map(quote).join(', ');
  const { openRuns } = await temporal.facts();
  const query = `${openRuns} AND TaskQueue = ${quote(temporal.taskQueue)} AND WorkflowType IN (${types})`;
  const counted = new Set<string>();
  const nowMs = await temporal.nowMs();
  let next: Uint8Array | undefined;
  do {
    const page = await listRuns(temporal, 'metrics', query, PAGE_RUNS, next);
    readings.callCount += 1;
    for (const info of page.infos) {
      const workflowId = info.execution?.workflowId ?? '';
      // After a continue-as-new, visibility may briefly list both runs.
      if (counted.has(workflowId)) continue;
      counted.add(workflowId);
      // An unreadable memo is left out, so the others still count.
      const memo = await decodeMemo<InboxMemo | DirectoryMemo>(temporal, info.memo?.fields, MAILBOX_MEMO);
      if (memo) add(readings, memo, nowMs);
    }
    next = page.next;
  } while (next);
  return readings;
}

/** @param nowMs Temporal's time, in epoch milliseconds */
function add(readings: MailboxReadings, memo: InboxMemo | DirectoryMemo, nowMs: number): void {
  const { agents, messages, oldestSentMs = Infinity } = readings;
  if (memo.oldestAt !== undefined) readings.oldestSentMs = Math.min(oldestSentMs, memo.oldestAt);
  if ('wanted' in memo) {
    for (const { count } of memo.wanted) messages.offered += count;
    return;
  }
  const delivered = memo.leaseUntil !== undefined && memo.leaseUntil > nowMs ? 1 : 0;
  messages.delivered += delivered;
  messages.queued += memo.queued - delivered;
  readings.deadLetters += memo.dead ?? 0;
  if (memo.registration) agents[stateOf(memo, nowMs)] += 1;
}

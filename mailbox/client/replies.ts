/**
 * Replies to a message. Its ID names the inbox that knows them, or the directory. Waits for replies share the long polls of waits
 * for messages, and query an inbox only when its memo shows changed outcomes.
 */
import { recipientOf } from './ids.js';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import type { MessageState, RepliesOptions, Reply } from '../types.js';
import { outcomeQuery } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Watches } from '../../engine/watch/index.js';
import { readText } from './contents.js';
import { mapConcurrently } from './map-concurrently.js';
import type { MailboxWorkflows } from './workflows.js';

const RETRY_MS = 1_000;
/** States that no response follows. Resending a dead letter makes it `queued` again in later reads. */
const FINAL: ReadonlySet<MessageState> = new Set([
  'answered',
  'expired',
  'dead_lettered',
  'dropped',
  'unknown',
]);

/** @throws LonghaulError `not_found` for an invalid or unknown message ID; `unavailable` */
export async function readReplies(
  workflows: MailboxWorkflows,
  watches: Watches,
  messageId: string,
  { wait, timeoutMs = 0, signal, onChange }: RepliesOptions = {},
): Promise<Reply[]> {
  const reader = new ReplyReader(workflows, messageId);
  if (!wait || timeoutMs <= 0) return reader.read();
  const followed = new Map<string, () => void>();
  let wake: () => void = () => undefined;
  let hasChanged: boolean;
  let isOver = signal?.aborted ?? false;
  const change = () => {
    hasChanged = true;
    wake();
  };
  const over = () => {
    isOver = true;
    wake();
  };
  const timer = setTimeout(over, timeoutMs);
  signal?.addEventListener('abort', over, { once: true });
  try {
    for (;;) {
      hasChanged = false;
      // Subscribe before reading, so no change in between is missed.
      const watched = await reader.watchedWorkflows().catch(undefinedIf('unavailable'));
      for (const { id } of watched ?? []) if (!followed.has(id)) followed.set(id, watches.follow(id, change));
      const replies = await reader.read().catch(undefinedIf('unavailable'));
      if (replies) onChange?.(replies);
      if (replies && isDone(replies, wait)) return replies;
      if (isOver) return replies ?? (await reader.read());
      if (!replies) setTimeout(change, withJitter(RETRY_MS)).unref();
      if (!hasChanged) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', over);
    for (const unfollow of followed.values()) unfollow();
  }
}

function isDone(replies: Reply[], wait: 'any' | 'all'): boolean {
  const isAnswered = wait === 'any' && replies.some(({ state }) => state === 'answered');
  return isAnswered || replies.every(({ state }) => FINAL.has(state));
}

/** Reads the replies to one message for one caller. Queries an inbox again only if its outcomes have changed. */
class ReplyReader {
  readonly #known = new Map<string, { settled: number; reply: Reply }>();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly messageId: string,
  ) {}

  /** Workflows that may bring replies when they change. */
  async watchedWorkflows(): Promise<{ id: string }[]> {
    const { names, isOffer } = await this.#recipients();
    const inboxes = names.map((name) => this.workflows.inbox(name));
    return isOffer ? [...inboxes, this.workflows.directory()] : inboxes;
  }

  async read(): Promise<Reply[]> {
    const { names, isOffer, isExpired } = await this.#recipients();
    if (isExpired) return [{ state: 'expired' }];
    if (isOffer && names.length === 0) return [{ state: 'offered' }];
    return mapConcurrently(names, (name) => this.#replyOf(name, isOffer));
  }

  async #recipients(): Promise<{ names: string[]; isOffer: boolean; isExpired: boolean }> {
    const name = recipientOf(this.messageId);
    if (name === undefined) throw messageNotFound();
    if (name !== '') return { names: [name], isOffer: false, isExpired: false };
    const publication = await this.workflows.publicationOf(this.messageId);
    if (!publication) throw messageNotFound();
    const { recipients, isOffer = false, isExpired = false } = publication;
    return { names: recipients, isOffer, isExpired };
  }

  async #replyOf(name: string, isOffer: boolean): Promise<Reply> {
    const { messageId } = this;
    const { temporal } = this.workflows;
    const inbox = this.workflows.inbox(name);
    const memo = await inbox.describe();
    const known = this.#known.get(name);
    const isSettled = known?.reply.state === 'answered' || known?.reply.state === 'expired';
    if (known && (isSettled || known.settled === memo?.settled)) return known.reply;
    const outcome = await inbox.query(outcomeQuery, messageId);
    // A message for anyone is on its way to its taker's inbox, or back.
    if (!outcome && isOffer) return { from: name, state: 'queued' };
    if (!outcome && recipientOf(messageId) === name) throw messageNotFound();
    const reply: Reply = { from: name, state: outcome?.state ?? 'unknown' };
    if (outcome && 'at' in outcome) {
      reply.at = new Date(outcome.at).toISOString();
      if (outcome.response) reply.response = await readText(temporal.storage, outcome.response);
      if (outcome.deliveries !== undefined) reply.deliveries = outcome.deliveries;
    } else if (outcome?.state === 'delivered' && outcome.leaseUntil! <= (await temporal.nowMs())) {
      // A message is queued again once its lease has ended.
      reply.state = 'queued';
    } else if (outcome?.progress) {
      const { at, ...progress } = outcome.progress;
      reply.progress = { ...progress, at: new Date(at).toISOString() };
    }
    this.#known.set(name, { settled: memo?.settled ?? 0, reply });
    return reply;
  }
}

function messageNotFound(): LonghaulError {
  return new LonghaulError('not_found', 'message_id: no such message, or it is no longer kept');
}

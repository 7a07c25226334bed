/**
 * The mailbox: agents that act only inside a tool call wait in one, get messages, answer and wait again. Every agent has an
 * inbox, a workflow that is addressed by its name within the principal; a directory knows them all. What a verb needs to know of
 * an agent is in its ID or in those workflows, so any process can serve any call.
 */
import { createHash } from 'node:crypto';
import { agentIdOf, openAgentId } from './ids.js';
import { LonghaulError } from '../../operations/errors.js';
import {
  assertAgentName,
  assertContent,
  assertLease,
  assertMessage,
  assertRegistration,
  assertReport,
  AWAY_AFTER_MS,
  SIGN_INTERVAL_MS,
  SMALL_INLINE_LIMIT_BYTES,
  type AgentStatus,
  type DeadLetter,
  type DeadLetterRequest,
  type MailboxStatus,
  type MessageProgress,
  type OutgoingMessage,
  type QueuedMessage,
  type ReceiveOptions,
  type Received,
  type Registered,
  type Registration,
  type RepliesOptions,
  type Reply,
  type Sent,
  type StatusOptions,
} from '../types.js';
import {
  BYE,
  QUEUE_QUERY,
  REGISTER,
  REPORT,
  RESPOND,
  type ByeRequest,
  type RegisterAnswer,
  type ReportRequest,
  type RespondRequest,
  type StoredMessage,
} from '../wire.js';
import { mailboxKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import type { TemporalClient } from '../../engine/temporal.js';
import type { Watches } from '../../engine/watch.js';
import { readMessage, storeText } from './contents.js';
import { deadLettersOf, settleDeadLetter } from './dead-letters.js';
import type { AgentSession } from './presence.js';
import { Enlistments } from './enlist.js';
import { noInbox, agentNotFound, takenOver } from './refusals.js';
import { Replies } from './replies.js';
import { sendMessage } from './send.js';
import { agentsOf, pageOfAgents } from './status.js';
import { releaseMessage, Waits } from './wait.js';
import { MailboxWorkflows, RefusedError, type MailboxOptions } from './workflows.js';

export type { MailboxOptions } from './workflows.js';

/** Agents of a home directory before there are shards: a principal with fewer pays for one directory only. */
const HOME_AGENTS = 100;

export class Mailbox {
  readonly #workflows: MailboxWorkflows;
  readonly #enlistments: Enlistments;
  readonly #waits: Waits;
  readonly #replies: Replies;

  constructor(
    temporal: TemporalClient,
    private readonly watches: Watches,
    private readonly secret: Buffer,
    private readonly storage: Storage,
    options: MailboxOptions = {},
  ) {
    this.#workflows = new MailboxWorkflows(temporal, secret, options);
    this.#waits = new Waits(this.#workflows, watches, storage, {
      signIntervalMs: options.signIntervalMs ?? SIGN_INTERVAL_MS,
      awayAfterMs: options.awayAfterMs ?? AWAY_AFTER_MS,
    });
    this.#enlistments = new Enlistments(this.#workflows, options.homeAgents ?? HOME_AGENTS);
    this.#replies = new Replies(this.#workflows, watches, storage);
  }

  /**
   * Registers an agent under its name. A second registration takes the name over: the wait of the first one, on whatever
   * process, ends as `gone`, and what it had and didn't acknowledge comes again.
   *
   * @throws LonghaulError `invalid_arguments`, `wrong_state` when there are too many agents, `unavailable`
   */
  async register(principal: string, registration: Registration): Promise<Registered> {
    assertRegistration(registration);
    const { name, type, capabilities, parent } = registration;
    const checked: Registration = { name, type, capabilities, ...(parent === undefined ? {} : { parent }) };
    const { epoch, isTakeover, wasBye } = await this.#workflows.updateInbox<RegisterAnswer>(
      principal,
      name,
      REGISTER,
      checked,
      'first',
    );
    await this.#enlistments.enlist(principal, { ...checked, epoch, isForced: wasBye });
    return { agentId: agentIdOf(principal, name, epoch, this.secret), isTakeover };
  }

  /** The name of an agent. @throws LonghaulError `not_found` for an ID that isn't one of this principal's */
  nameOf(principal: string, agentId: string): string {
    return this.#lifeOf(principal, agentId).name;
  }

  /**
   * Sends a message, once it is durable; it is kept for agents that aren't there yet.
   *
   * @throws LonghaulError `invalid_arguments`, `too_large`, `not_found` for a sender that isn't one or when nobody fits,
   *   `wrong_state` (retryable) when there is no room for it, `conflict` when the idempotency key is another message's,
   *   `unavailable`
   */
  async send(principal: string, message: OutgoingMessage): Promise<Sent> {
    assertMessage(message);
    const { from } = message;
    if (from === undefined || 'name' in from)
      return sendMessage(this.#workflows, this.storage, this.secret, principal, message, from?.name);
    const life = this.#lifeOf(principal, from.agentId);
    const sent = await sendMessage(this.#workflows, this.storage, this.secret, principal, message, life.name);
    this.#sign(life);
    return sent;
  }

  /**
   * Waits for a message. Nothing is written while there is none.
   *
   * @throws LonghaulError `invalid_arguments`, `not_found` for an ID that isn't an agent's. While Temporal is away the wait goes
   *   on
   */
  async receive(principal: string, agentId: string, options: ReceiveOptions): Promise<Received> {
    const { leaseSeconds } = options;
    if (leaseSeconds !== undefined) assertLease(leaseSeconds);
    return this.#waits.receive(this.#lifeOf(principal, agentId), options);
  }

  /**
   * Answers a message, which acknowledges it. The same response again changes nothing.
   *
   * @throws LonghaulError `not_found` for an agent or message that there isn't, `wrong_state` when it was answered otherwise
   *   or the agent was taken over, `invalid_arguments`, `too_large`, `unavailable`
   */
  async respond(principal: string, agentId: string, messageId: string, response: string): Promise<void> {
    assertContent(response, 'response');
    const { name, epoch } = this.#lifeOf(principal, agentId);
    const digest = createHash('sha256').update(response).digest('base64url').slice(0, 16);
    const key = mailboxKey(this.#workflows.prefixOf(principal), `${messageId} ${name} ${digest}`, 'response');
    const stored = await storeText(this.storage, response, SMALL_INLINE_LIMIT_BYTES, key);
    const request: RespondRequest = { epoch, id: messageId, response: stored, digest };
    try {
      await this.#workflows.updateInbox(principal, name, RESPOND, request);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'repeat') return;
      throw refusalOf(error, 'response_to', messageId);
    }
  }

  /** Puts a message back that was received and then didn't reach its agent; what `message` says of it has to be so still. */
  async release(
    principal: string,
    agentId: string,
    message: { messageId: string; delivery: number },
  ): Promise<void> {
    await releaseMessage(this.#workflows, this.#lifeOf(principal, agentId), message);
  }

  /**
   * Reports progress on a message to its sender, and renews the agent's lease.
   *
   * @returns was it recorded? One that comes sooner than 10 s after the last one, or half the lease, is not
   * @throws LonghaulError `invalid_arguments`, `too_large`, `not_found` for a message that the agent doesn't have, `wrong_state`
   *   when the agent was taken over or its waiting was ended, `unavailable`
   */
  async report(
    principal: string,
    agentId: string,
    messageId: string,
    progress: Omit<MessageProgress, 'at'>,
  ): Promise<boolean> {
    assertReport(progress);
    const { name, epoch } = this.#lifeOf(principal, agentId);
    const { text, fraction } = progress;
    const request: ReportRequest = {
      epoch,
      id: messageId,
      progress: { text, ...(fraction === undefined ? {} : { fraction }) },
    };
    try {
      await this.#workflows.updateInbox(principal, name, REPORT, request);
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'too_soon') return false;
      throw refusalOf(error, 'message_id', messageId);
    }
  }

  /**
   * Who is there, and what waits: a page of the agents.
   *
   * @throws LonghaulError `invalid_arguments`; `unavailable`, also while there is no worker
   */
  status(principal: string, options?: StatusOptions): Promise<MailboxStatus> {
    return pageOfAgents(this.#workflows, principal, options);
  }

  /** The dead letters of an inbox, oldest first. @throws LonghaulError `not_found`, `unavailable` */
  deadLetters(principal: string, name: string): Promise<DeadLetter[]> {
    return deadLettersOf(this.#workflows, this.storage, principal, name);
  }

  /**
   * Resends a dead letter, whose deliveries are counted from 0 again, or drops it.
   *
   * @throws LonghaulError `not_found`; `wrong_state` when `by` is neither the owner of the inbox nor the sender, and (retryable)
   *   when the inbox is full; `unavailable`
   */
  async settleDeadLetter(principal: string, { by, ...request }: DeadLetterRequest): Promise<void> {
    const life = by === undefined ? undefined : this.#lifeOf(principal, by);
    const asking = life && { name: life.name, epoch: life.epoch };
    await settleDeadLetter(this.#workflows, principal, request, asking);
  }

  /** Says of agents that left here that they are away, where the process ends and no call can follow. Takes 2 s at most. */
  async close(): Promise<void> {
    await this.#waits.presence.close();
  }

  /**
   * What has become of a message at each recipient.
   *
   * @throws LonghaulError `not_found` for a message that there isn't, or is no longer kept; `unavailable`
   */
  replies(principal: string, messageId: string, options?: RepliesOptions): Promise<Reply[]> {
    return this.#replies.of(principal, messageId, options);
  }

  /** The agents that named this one as their parent. @throws LonghaulError `not_found`, `unavailable` */
  async children(principal: string, agentId: string): Promise<AgentStatus[]> {
    const { name } = this.#lifeOf(principal, agentId);
    return agentsOf(this.#workflows, principal, ({ parent }) => parent === name);
  }

  /**
   * Ends an agent's waiting until it registers again; its messages stay. Once more changes nothing.
   *
   * @param by ID of the agent that does it: the same one, or its parent. Without it, a person does
   * @throws LonghaulError `not_found`, `wrong_state` when `by` is neither or was taken over, `unavailable`
   */
  async bye(principal: string, name: string, by?: string): Promise<void> {
    assertAgentName(name, 'agent_name');
    const life = by === undefined ? undefined : this.#lifeOf(principal, by);
    const nobody = new LonghaulError('not_found', `there is no agent "${name}"`);
    const request: ByeRequest =
      life === undefined ? {} : life.name === name ? { epoch: life.epoch } : { parent: life.name };
    try {
      await this.#workflows.updateInbox(principal, name, BYE, request);
    } catch (error) {
      if (error instanceof LonghaulError && error.kind === 'not_found') throw nobody;
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'repeat') return;
      if (error.why === 'gone') throw takenOver();
      if (error.why === 'not_parent')
        throw new LonghaulError('wrong_state', `"${name}" is no child of "${life!.name}"`);
      throw nobody;
    }
  }

  /** The messages in an inbox, oldest first, without taking any. @throws LonghaulError `not_found`, `unavailable` */
  async peek(principal: string, name: string): Promise<QueuedMessage[]> {
    assertAgentName(name, 'agent_name');
    const found = await this.#workflows.query<{ queue: StoredMessage[]; leased?: string }>(
      this.#workflows.inboxOf(principal, name),
      QUEUE_QUERY,
    );
    if (!found) throw noInbox(name);
    return Promise.all(
      found.queue.map(async (stored) => {
        const { delivery: _delivery, ...message } = await readMessage(this.storage, stored);
        return {
          ...message,
          state: stored.id === found.leased ? ('delivered' as const) : ('queued' as const),
        };
      }),
    );
  }

  /** An inbox as it is now and each time it changes, until the signal fires. @throws LonghaulError `not_found` */
  async *follow(principal: string, name: string, signal: AbortSignal): AsyncGenerator<QueuedMessage[]> {
    let wake: () => void = () => undefined;
    let hasChanged = true;
    const change = () => {
      hasChanged = true;
      wake();
    };
    const unfollow = this.watches.follow(this.#workflows.inboxOf(principal, name), change);
    signal.addEventListener('abort', change);
    try {
      while (!signal.aborted) {
        if (!hasChanged) await new Promise<void>((resolve) => (wake = resolve));
        if (signal.aborted) return;
        hasChanged = false;
        yield await this.peek(principal, name);
      }
    } finally {
      signal.removeEventListener('abort', change);
      unfollow();
    }
  }

  #lifeOf(principal: string, agentId: string): AgentSession {
    const life = openAgentId(principal, agentId, this.secret);
    if (!life) throw agentNotFound();
    return { principal, ...life };
  }

  /** A call of the agent is a sign of life, too. */
  #sign(life: AgentSession): void {
    this.#workflows
      .describeInbox(life.principal, life.name)
      .then((memo) => {
        if (memo?.epoch === life.epoch) this.#waits.presence.sign(life, memo);
      })
      .catch(() => undefined);
  }
}

/** @param where name of the argument that has the message's ID */
function refusalOf({ why }: RefusedError, where: string, messageId: string): LonghaulError {
  switch (why) {
    case 'unknown_message':
      return new LonghaulError(
        'not_found',
        `${where}: this agent has no message ${JSON.stringify(messageId)}, or no longer`,
      );
    case 'answered':
      return new LonghaulError('wrong_state', `${where}: ${messageId} was answered already, otherwise`);
    case 'bye':
      return new LonghaulError('wrong_state', 'agent_id: the waiting of this agent was ended');
    default:
      return takenOver();
  }
}

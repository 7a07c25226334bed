/**
 * The mailbox lets agents that act only inside tool calls wait in one, receive messages, respond and wait again. Each agent has an
 * inbox, a workflow with an ID derived from the agent's name. A directory lists all agents of the principal. An agent's ID and
 * these workflows hold all state, so any process can serve any call.
 */
import type { TemporalClient } from '../../engine/temporal/client.js';
import type { Watches } from '../../engine/watch/index.js';
import { AWAY_AFTER_MS, HEARTBEAT_INTERVAL_MS } from '../limits.js';
import type {
  DeadLetter,
  DeadLetterRequest,
  MailboxStatus,
  MessageProgress,
  OutgoingMessage,
  QueuedMessage,
  ReceiveOptions,
  ReceiveResult,
  RegisteredAgent,
  Registration,
  RepliesOptions,
  Reply,
  SendResult,
  StatusOptions,
} from '../types.js';
import {
  assertAgentName,
  assertContent,
  assertLease,
  assertMessage,
  assertRegistration,
  assertReport,
} from '../validate.js';
import { queueQuery, registerUpdate, byeUpdate, type ByeRequest } from '../wire.js';
import { readMessage } from './contents.js';
import { deadLettersOf, settleDeadLetter } from './dead-letters.js';
import { Enlistments } from './enlist.js';
import { agentNotFound, inboxNotFound, agentTakenOver } from './errors.js';
import { agentIdOf, parseAgentId } from './ids.js';
import type { AgentSession } from './presence.js';
import { readReplies } from './replies.js';
import { report, respond } from './respond.js';
import { sendMessage } from './send.js';
import { pageOfAgents } from './status.js';
import { Waits } from './wait.js';
import { type MailboxOptions, type MailboxWorkflows, RefusedError, WorkflowCalls } from './workflows.js';
import { isKind, LonghaulError } from '../../operations/errors.js';

export type { MailboxOptions } from './workflows.js';

/** Default maximum agents of a home directory. A principal with fewer has no shards. */
const HOME_AGENTS = 100;

export class Mailbox {
  readonly #calls: WorkflowCalls;
  readonly #enlistments: Enlistments;
  readonly #waits: Waits;

  constructor(
    temporal: TemporalClient,
    private readonly watches: Watches,
    private readonly secret: Buffer,
    options: MailboxOptions = {},
  ) {
    this.#calls = new WorkflowCalls(temporal, secret, options);
    this.#waits = new Waits(watches, {
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS,
      awayAfterMs: options.awayAfterMs ?? AWAY_AFTER_MS,
    });
    this.#enlistments = new Enlistments(options.homeAgents ?? HOME_AGENTS);
  }

  /**
   * Registers an agent under its name. A second registration takes over the name: on any process, the earlier session's wait ends
   * as `gone`, and its unacknowledged message is delivered again.
   *
   * @throws LonghaulError `invalid_arguments`, `wrong_state` if there are too many agents, `unavailable`
   */
  async register(principal: string, registration: Registration): Promise<RegisteredAgent> {
    assertRegistration(registration);
    const { name, type, capabilities, parent } = registration;
    const checked: Registration = { name, type, capabilities, parent };
    const workflows = this.#calls.of(principal);
    const { epoch, isTakeover, wasBye } = await workflows
      .inbox(name)
      .update(registerUpdate, checked, { starts: 'first' });
    await this.#enlistments.enlist(workflows, { ...checked, epoch, isForced: wasBye });
    return { agentId: agentIdOf(principal, name, epoch, this.secret), isTakeover };
  }

  /** @throws LonghaulError `not_found` for an ID that isn't one of this principal's */
  nameOf(principal: string, agentId: string): string {
    return this.#sessionOf(principal, agentId).name;
  }

  /**
   * Sends a message, also to agents that haven't registered yet. Resolves once it is durable.
   *
   * @throws LonghaulError `invalid_arguments`, `too_large`, `not_found` for an unknown sender or if no agent matches, `wrong_state`
   *   (retryable) if there is no room for it, `conflict` if another message has the idempotency key, `unavailable`
   */
  async send(principal: string, message: OutgoingMessage): Promise<SendResult> {
    assertMessage(message);
    const { from } = message;
    if (from === undefined || 'name' in from)
      return sendMessage(this.#calls.of(principal), message, from?.name);
    const session = this.#sessionOf(principal, from.agentId);
    const sent = await sendMessage(session.workflows, message, session.name);
    this.#heartbeat(session);
    return sent;
  }

  /**
   * Waits for a message. Writes nothing until there is one, and continues while Temporal is unavailable.
   *
   * @throws LonghaulError `invalid_arguments`, `not_found` for an ID that isn't an agent's
   */
  async receive(principal: string, agentId: string, options: ReceiveOptions): Promise<ReceiveResult> {
    const { leaseSeconds } = options;
    if (leaseSeconds !== undefined) assertLease(leaseSeconds);
    return this.#waits.receive(this.#sessionOf(principal, agentId), options);
  }

  /**
   * Responds to a message, which acknowledges it. Repeating the same response changes nothing.
   *
   * @throws LonghaulError `not_found` for an unknown agent or message, `wrong_state` if the message already has another response or
   *   the agent was taken over, `invalid_arguments`, `too_large`, `unavailable`
   */
  async respond(principal: string, agentId: string, messageId: string, response: string): Promise<void> {
    assertContent(response, 'response');
    await respond(this.#sessionOf(principal, agentId), messageId, response);
  }

  /** Requeues a received message that didn't reach its agent. No-op if the delivery count has changed. */
  async release(
    principal: string,
    agentId: string,
    message: { messageId: string; delivery: number },
  ): Promise<void> {
    await this.#waits.release(this.#sessionOf(principal, agentId), message);
  }

  /**
   * Reports progress on a message to its sender, and renews the agent's lease.
   *
   * @returns false, unrecorded, if the last report is less than 10 s, or half the lease, old
   * @throws LonghaulError `invalid_arguments`, `too_large`, `not_found` for a message that the agent doesn't have, `wrong_state` if
   *   the agent was taken over or its session was ended, `unavailable`
   */
  async report(
    principal: string,
    agentId: string,
    messageId: string,
    progress: Omit<MessageProgress, 'at'>,
  ): Promise<boolean> {
    assertReport(progress);
    return report(this.#sessionOf(principal, agentId), messageId, progress);
  }

  /**
   * A page of the agents with their states, and the number of messages for anyone.
   *
   * @throws LonghaulError `invalid_arguments`; `unavailable`, also while there is no worker
   */
  status(principal: string, options?: StatusOptions): Promise<MailboxStatus> {
    return pageOfAgents(this.#calls.of(principal), options);
  }

  /** Oldest first. @throws LonghaulError `not_found`, `unavailable` */
  deadLetters(principal: string, name: string): Promise<DeadLetter[]> {
    return deadLettersOf(this.#calls.of(principal), name);
  }

  /**
   * Resends a dead letter with its delivery count reset, or drops it.
   *
   * @throws LonghaulError `not_found`; `wrong_state` if `by` is neither the inbox's owner nor the sender, or (retryable) the inbox
   *   is full; `unavailable`
   */
  async settleDeadLetter(principal: string, { by, ...request }: DeadLetterRequest): Promise<void> {
    await settleDeadLetter(this.#calls.of(principal), request, this.#callerOf(principal, by));
  }

  /** Before the process ends: marks agents that waited here last as away. Takes at most 2 s. */
  async close(): Promise<void> {
    await this.#waits.presence.shutdown();
  }

  /**
   * The message's state at each recipient, with their responses.
   *
   * @throws LonghaulError `not_found` for an unknown message, or one past its retention; `unavailable`
   */
  replies(principal: string, messageId: string, options?: RepliesOptions): Promise<Reply[]> {
    return readReplies(this.#calls.of(principal), this.watches, messageId, options);
  }

  /**
   * Ends an agent's session until it registers again. Its messages stay. Idempotent.
   *
   * @param by ID of the requesting agent: the same one, or its parent. Absent for a person
   * @throws LonghaulError `not_found`, `wrong_state` if `by` is neither or was taken over, `unavailable`
   */
  async bye(principal: string, name: string, by?: string): Promise<void> {
    assertAgentName(name, 'agent_name');
    await endSession(this.#calls.of(principal), name, this.#callerOf(principal, by));
  }

  /** Messages in an inbox, oldest first. Takes none. @throws LonghaulError `not_found`, `unavailable` */
  async peek(principal: string, name: string): Promise<QueuedMessage[]> {
    assertAgentName(name, 'agent_name');
    const { temporal } = this.#calls;
    const found = await this.#calls.of(principal).inbox(name).query(queueQuery);
    if (!found) throw inboxNotFound(name);
    const nowMs = await temporal.nowMs();
    return Promise.all(
      found.queue.map(async (stored) => {
        const { delivery: deliveries, ...message } = await readMessage(temporal.storage, stored);
        // A message is queued again once its lease has ended.
        if (stored.id === found.leased && found.leaseUntil! > nowMs)
          return { ...message, state: 'delivered' as const };
        return { ...message, state: 'queued' as const, ...(deliveries > 0 ? { deliveries } : {}) };
      }),
    );
  }

  /** Yields the messages in an inbox, first and after each change, until the signal fires. @throws LonghaulError `not_found` */
  async *follow(principal: string, name: string, signal: AbortSignal): AsyncGenerator<QueuedMessage[]> {
    const { id } = this.#calls.of(principal).inbox(name);
    for await (const _change of this.watches.changes(id, { signal })) yield await this.peek(principal, name);
  }

  #sessionOf(principal: string, agentId: string): AgentSession {
    const session = parseAgentId(principal, agentId, this.secret);
    if (!session) throw agentNotFound();
    const workflows = this.#calls.of(principal);
    return { workflows, ...session, key: `${workflows.prefix}${agentId}` };
  }

  #callerOf(principal: string, agentId: string | undefined): { name: string; epoch: number } | undefined {
    if (agentId === undefined) return undefined;
    const { name, epoch } = this.#sessionOf(principal, agentId);
    return { name, epoch };
  }

  /** Counts a call other than a wait as a heartbeat. */
  #heartbeat(session: AgentSession): void {
    session.workflows
      .inbox(session.name)
      .describe()
      .then((memo) => {
        if (memo?.epoch === session.epoch) this.#waits.presence.heartbeat(session, memo);
      })
      .catch(() => undefined);
  }
}

/** @param by the requesting agent. Absent for a person @throws LonghaulError as `Mailbox.bye` */
async function endSession(
  workflows: MailboxWorkflows,
  name: string,
  by: { name: string; epoch: number } | undefined,
): Promise<void> {
  const notFound = new LonghaulError('not_found', `there is no agent "${name}"`);
  const request: ByeRequest =
    by === undefined ? {} : by.name === name ? { epoch: by.epoch } : { parent: by.name };
  try {
    await workflows.inbox(name).update(byeUpdate, request);
  } catch (error) {
    if (isKind(error, 'not_found')) throw notFound;
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'repeat') return;
    if (error.why === 'gone') throw agentTakenOver();
    if (error.why === 'not_parent')
      throw new LonghaulError('wrong_state', `"${name}" is not a child of "${by!.name}"`);
    throw notFound;
  }
}

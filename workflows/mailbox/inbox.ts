/**
 * One agent's inbox. Everything that changes it is an update, which its validator may refuse without a trace in history, or
 * one of two signals. Nothing happens while the agent waits: leases and signs of life are judged by the time at which
 * somebody looks, and the only timers are for messages that have to go back to others, and one that ends an inbox which
 * nobody uses.
 */
import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Registration } from '../../operations/mailbox.js';
import {
  ASSIGN,
  BYE,
  HAND_BACK,
  LEAVE,
  OUTCOME_QUERY,
  PUT,
  QUEUE_QUERY,
  REGISTER,
  RELEASE,
  RESPOND,
  SIGN,
  TAKE,
  type ByeRequest,
  type InboxInput,
  type LeaveNotice,
  type Outcome,
  type RegisterAnswer,
  type ReleaseRequest,
  type RespondRequest,
  type Sign,
  type StoredMessage,
  type TakeAnswer,
  type TakeRequest,
} from '../../operations/mailbox-wire.js';
import { emptyInbox, Inbox } from './queue.js';
import { refuse, Run } from './run.js';

/** An agent that gave no sign for so long is forgotten once its inbox is empty, in milliseconds: 7 days. */
const RETIRE_MS = 7 * 24 * 3600_000;
/** After this time what couldn't be handed back is tried again, in milliseconds. */
const HAND_BACK_RETRY_MS = 60_000;
/** Epochs are counted in seconds since 2026-01-01, so that they are short. */
const EPOCH_START_MS = Date.UTC(2026, 0, 1);

export async function mailbox_inbox(input: InboxInput): Promise<void> {
  const { principal, name, continueAfterChanges } = input;
  const inbox = new Inbox(name, principal, input.state ?? emptyInbox(Date.now()));
  const { state } = inbox;
  const run = new Run(() => inbox.memo(), continueAfterChanges);
  const ids = siblingsOf(workflowInfo().workflowId);
  let sending = 0;

  const assertEpoch = (epoch: number, isByeFine = false): void => {
    if (state.epoch !== epoch) refuse('gone', `another registration has taken over "${name}"`);
    if (state.isBye && !isByeFine) refuse('bye', `the waiting of "${name}" was ended`);
  };

  setHandler(
    defineUpdate<RegisterAnswer, [Registration]>(REGISTER),
    (registration) => {
      const wasBye = state.isBye === true;
      const isTakeover = state.registration !== undefined && !wasBye;
      state.epoch = Math.max(state.epoch + 1, Math.floor((Date.now() - EPOCH_START_MS) / 1000));
      state.registration = registration;
      state.signedAt = state.activeAt = Date.now();
      delete state.isBye;
      delete state.previous;
      inbox.unlease();
      run.changed();
      return { epoch: state.epoch, isTakeover, wasBye };
    },
    { description: 'Registers the agent; ends the life that it had before.' },
  );

  setHandler(
    defineUpdate<void, [StoredMessage]>(PUT),
    (message) => {
      inbox.expire();
      inbox.put(message);
      run.changed();
    },
    {
      validator: (message: StoredMessage) => {
        if (inbox.hasSeen(message.id)) refuse('repeat');
        if (inbox.isFull() && !inbox.hasExpired()) refuse('full');
      },
      description: 'Puts a message into the queue.',
    },
  );

  setHandler(
    defineUpdate<TakeAnswer, [TakeRequest]>(TAKE),
    ({ epoch, ack, leaseMs }) => {
      if (ack !== undefined) inbox.acknowledge(ack);
      inbox.expire();
      const message = inbox.take(epoch, leaseMs);
      state.signedAt = Date.now();
      run.changed();
      return { ...(message ? { message } : {}), ...(state.previous ? { previous: state.previous } : {}) };
    },
    {
      validator: ({ epoch, ack }: TakeRequest) => {
        assertEpoch(epoch);
        const isAck = ack !== undefined && inbox.canAcknowledge(ack);
        if (!isAck && state.queue.length === 0) refuse('nothing');
      },
      description: 'Acknowledges the message before, and gives the next one under a lease.',
    },
  );

  setHandler(
    defineUpdate<void, [ReleaseRequest]>(RELEASE),
    ({ id }) => {
      const message = inbox.find(id)!;
      message.deliveries -= 1;
      if (message.selector) message.handBackAt = Date.now();
      inbox.unlease();
      run.changed();
    },
    {
      validator: ({ epoch, id, delivery }: ReleaseRequest) => {
        assertEpoch(epoch, true);
        if (state.lease?.id !== id || inbox.find(id)?.deliveries !== delivery) refuse('nothing');
      },
      description: 'Puts a message back that did not reach its agent.',
    },
  );

  setHandler(
    defineUpdate<void, [RespondRequest]>(RESPOND),
    ({ id, response, digest }) => {
      const message = inbox.find(id);
      const done = inbox.outcomeOf(id);
      if (message) inbox.settle(message, { state: 'answered', response, digest });
      else if (done) inbox.answer(done, response, digest);
      state.signedAt = state.activeAt = Date.now();
      run.changed();
      void forward(inbox.outcomeOf(id)!);
    },
    {
      validator: ({ epoch, id, digest }: RespondRequest) => {
        assertEpoch(epoch, true);
        const done = inbox.outcomeOf(id);
        if (done?.state === 'answered') refuse(done.digest === digest ? 'repeat' : 'answered');
        if (!inbox.canAcknowledge(id) && done?.state !== 'acknowledged') refuse('unknown_message');
      },
      description: 'Answers a message, which acknowledges it.',
    },
  );

  setHandler(
    defineUpdate<void, [ByeRequest]>(BYE),
    () => {
      inbox.end();
      run.changed();
      void leave(false);
    },
    {
      validator: ({ epoch, parent }: ByeRequest) => {
        if (!state.registration) refuse('nothing');
        if (epoch !== undefined && state.epoch !== epoch) refuse('gone');
        if (parent !== undefined && state.registration?.parent !== parent) refuse('not_parent');
        if (state.isBye) refuse('repeat');
      },
      description: 'Ends the waiting of this life of the agent.',
    },
  );

  setHandler(
    defineSignal<[Sign]>(SIGN),
    ({ epoch }) => {
      if (state.epoch !== epoch || state.isBye) return run.decide();
      state.signedAt = Date.now();
      inbox.renewLease();
      run.changed();
    },
    { description: 'A sign of life.' },
  );

  setHandler(
    defineSignal<[StoredMessage]>(ASSIGN),
    (message) => {
      if (inbox.hasSeen(message.id)) return run.decide();
      if (inbox.isOverflowing() && !message.selector) {
        log.warn('a response was not put into a full inbox; its sender can read it', { id: message.id });
        return run.decide();
      }
      inbox.put(message);
      run.changed();
    },
    { description: 'A message that the directory gives, or a response.' },
  );

  setHandler(defineQuery<{ queue: StoredMessage[]; leased?: string }>(QUEUE_QUERY), () => ({
    queue: state.queue,
    ...(state.lease ? { leased: state.lease.id } : {}),
  }));
  setHandler(
    defineQuery<Outcome | { state: 'queued' | 'delivered' } | null, [string]>(OUTCOME_QUERY),
    (id) => {
      const message = inbox.find(id);
      if (!message) return inbox.outcomeOf(id) ?? null;
      return { state: state.lease?.id === id ? 'delivered' : 'queued' };
    },
  );

  /** The response as a message to whom its sender named. */
  async function forward({ id, replyTo, response }: Outcome): Promise<void> {
    if (replyTo === undefined || response === undefined) return;
    const now = Date.now();
    const message: StoredMessage = {
      id: `${replyTo}~${id.slice(id.indexOf('~') + 1)}`,
      from: name,
      mode: 'response',
      content: response,
      sentAt: now,
      expiresAt: now + RETIRE_MS,
      responseTo: id,
      deliveries: 0,
    };
    if (!(await tell(ids.inbox(replyTo), ASSIGN, message)))
      log.warn('a response could not be forwarded; its sender can read it', { id });
  }

  /** Tells the directory that this life of the agent is over. */
  async function leave(isForgotten: boolean): Promise<void> {
    const leaving: LeaveNotice = { name, epoch: state.epoch, isForgotten };
    await tell(ids.directory, LEAVE, leaving);
  }

  /** Signals another workflow; false when there is none. This run doesn't end meanwhile. */
  async function tell(workflowId: string, signal: string, what: unknown): Promise<boolean> {
    sending += 1;
    try {
      await getExternalWorkflowHandle(workflowId).signal(signal, what);
      return true;
    } catch {
      return false;
    } finally {
      sending -= 1;
    }
  }

  async function handBack(): Promise<void> {
    const messages = inbox.takeBack();
    run.changed();
    for (const message of messages) {
      const { handBackAt: _over, ...offer } = message;
      if (await tell(ids.directory, HAND_BACK, offer)) continue;
      log.warn('a message could not be handed back; trying again', { id: message.id });
      state.queue.push({ ...message, handBackAt: Date.now() + HAND_BACK_RETRY_MS });
    }
  }

  let retireAt = Date.now() + RETIRE_MS;
  const isDue = () => sending === 0 && run.isFull();
  const isUnused = () =>
    state.queue.length === 0 && Date.now() - Math.max(state.signedAt, state.activeAt) >= RETIRE_MS;
  for (;;) {
    const handBackAt = inbox.handBackAt();
    const wakeAt = Math.min(retireAt, handBackAt);
    await condition(() => isDue() || inbox.handBackAt() !== handBackAt, Math.max(1, wakeAt - Date.now()));
    if (inbox.handBackAt() <= Date.now()) await handBack();
    if (isDue())
      await run.continueAsNew<typeof mailbox_inbox>({ principal, name, continueAfterChanges, state });
    if (Date.now() < retireAt) continue;
    inbox.expire();
    if (isUnused()) {
      await leave(true);
      // A message that came meanwhile keeps it.
      if (isUnused()) return;
    }
    retireAt = Date.now() + RETIRE_MS;
  }
}

/** The other workflows of the same mailbox. */
function siblingsOf(workflowId: string): { directory: string; inbox: (name: string) => string } {
  const prefix = workflowId.slice(0, workflowId.indexOf(':', 'mailbox:'.length) + 1);
  return { directory: `${prefix}directory`, inbox: (name) => `${prefix}inbox:${name}` };
}

/**
 * One agent's inbox. Everything that changes it is an update, which its validator may refuse without a trace in history, or
 * one of two signals. Nothing happens while the agent waits: leases and signs of life are judged by the time at which
 * somebody looks, and the only timers are for messages that have to go back to others or were delivered for the last time,
 * and one that ends an inbox which nobody uses.
 */
import { condition, log, patched, setHandler } from '@temporalio/workflow';
import type { InboxInput, StoredMessage } from '../state.js';
import {
  assignSignal,
  byeUpdate,
  deadLettersQuery,
  heartbeatSignal,
  outcomeQuery,
  putUpdate,
  queueQuery,
  registerUpdate,
  releaseUpdate,
  reportUpdate,
  respondUpdate,
  settleDeadLetterUpdate,
  takeUpdate,
  type ByeRequest,
  type ReleaseRequest,
  type ReportRequest,
  type RespondRequest,
  type SettleDeadLetterRequest,
  type TakeRequest,
} from '../wire.js';
import { isExhausted } from './dead-letters.js';
import { Outbox } from './outbox.js';
import { emptyInbox, Inbox } from './queue.js';
import { refuse, Run } from './run.js';

/** An agent that gave no sign for so long is forgotten once its inbox is empty, in milliseconds: 7 days. */
const RETIRE_MS = 7 * 24 * 3600_000;
/** After this time what couldn't be handed back is tried again, in milliseconds. */
const HAND_BACK_RETRY_MS = 60_000;
/** Epochs are counted in seconds since 2026-01-01, so that they are short. */
const EPOCH_START_MS = Date.UTC(2026, 0, 1);
/** Runs of earlier code give a message again and again; what they did so replays so. */
const DEAD_LETTERS_PATCH = 'mailbox-dead-letters';

export async function mailbox_inbox(input: InboxInput): Promise<void> {
  const { principal, name, continueAfterChanges } = input;
  const inbox = new Inbox(name, principal, input.state ?? emptyInbox(Date.now()));
  const { state } = inbox;
  const run = new Run(() => inbox.memo(), continueAfterChanges);
  const outbox = new Outbox(name);

  const assertEpoch = (epoch: number, isByeFine = false): void => {
    if (state.epoch !== epoch) refuse('gone', `another registration has taken over "${name}"`);
    if (state.isBye && !isByeFine) refuse('bye', `the waiting of "${name}" was ended`);
  };

  setHandler(
    registerUpdate,
    (registration) => {
      const wasBye = state.isBye === true;
      const isTakeover = state.registration !== undefined && !wasBye;
      state.epoch = Math.max(state.epoch + 1, Math.floor((Date.now() - EPOCH_START_MS) / 1000));
      state.registration = registration;
      inbox.sign();
      state.activeAt = Date.now();
      delete state.isBye;
      delete state.isRoaming;
      delete state.previous;
      fail();
      run.changed();
      return { epoch: state.epoch, isTakeover, wasBye };
    },
    { description: 'Registers the agent; ends the life that it had before.' },
  );

  setHandler(
    putUpdate,
    (message) => {
      inbox.expire();
      inbox.put(message);
      run.changed();
    },
    {
      validator: (message: StoredMessage) => {
        if (inbox.isConflict(message)) refuse('conflict');
        if (inbox.hasSeen(message.id)) refuse('repeat');
        if (inbox.isFull() && !inbox.hasExpired()) refuse('full');
      },
      description: 'Puts a message into the queue.',
    },
  );

  setHandler(
    takeUpdate,
    ({ epoch, ack, leaseMs }) => {
      if (ack !== undefined) inbox.acknowledge(ack);
      inbox.expire();
      const message = nextToDeliver();
      if (message) {
        const lease = inbox.take(message, epoch, leaseMs);
        if (isExhausted(message) && patched(DEAD_LETTERS_PATCH)) lease.isLast = true;
      }
      inbox.sign();
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
    releaseUpdate,
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
    respondUpdate,
    ({ id, response, digest }) => {
      inbox.answer(id, response, digest);
      inbox.sign();
      state.activeAt = Date.now();
      run.changed();
      void outbox.forward(inbox.outcomeOf(id)!);
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
    byeUpdate,
    () => {
      fail();
      inbox.end();
      run.changed();
      void outbox.leave(state.epoch, false);
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
    reportUpdate,
    (request) => {
      inbox.report(request);
      inbox.sign();
      run.changed();
    },
    {
      validator: ({ epoch, id }: ReportRequest) => {
        assertEpoch(epoch);
        const message = inbox.find(id);
        if (!message || state.lease?.id !== id) refuse('unknown_message');
        if (!inbox.mayReport(message)) refuse('too_soon');
      },
      description: 'Reports progress on a message, which renews its lease.',
    },
  );

  setHandler(
    settleDeadLetterUpdate,
    ({ id, action }) => {
      const letter = inbox.deadLetters.find(id)!;
      if (action === 'resend') inbox.resend(letter);
      else inbox.settle(letter, { state: 'dropped' });
      run.changed();
    },
    {
      validator: ({ id, action, by }: SettleDeadLetterRequest) => {
        const letter = inbox.deadLetters.find(id);
        if (!letter) refuse('unknown_message');
        if (by?.name === name) assertEpoch(by.epoch, true);
        else if (by && letter.from !== by.name) refuse('not_yours');
        if (action === 'resend' && inbox.isFull() && !letter.selector) refuse('full');
      },
      description: 'Resends or drops a dead letter.',
    },
  );

  setHandler(
    heartbeatSignal,
    ({ epoch, awayAt, isRoaming }) => {
      if (state.epoch !== epoch || state.isBye) return run.decide();
      if (awayAt === undefined) {
        inbox.sign();
        inbox.renewLease();
        if (isRoaming) state.isRoaming = true;
      } else if (!state.isRoaming) {
        state.awayAt = awayAt;
        state.signedAt = Math.max(state.signedAt, awayAt);
      }
      run.changed();
    },
    { description: 'A sign of life, with or without an open wait.' },
  );

  setHandler(
    assignSignal,
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

  setHandler(queueQuery, () => ({
    queue: state.queue,
    ...(state.lease ? { leased: state.lease.id } : {}),
  }));
  setHandler(outcomeQuery, (id) => inbox.fateOf(id) ?? null);
  setHandler(deadLettersQuery, () => inbox.deadLetters.all);

  /** The next message that may be delivered once more. Those before it become dead letters. */
  function nextToDeliver(): StoredMessage | undefined {
    let message = inbox.next();
    while (message && isExhausted(message) && patched(DEAD_LETTERS_PATCH)) {
      bury(message);
      message = inbox.next();
    }
    return message;
  }

  /** The agent has failed with the message that it had. */
  function fail(): void {
    const message = inbox.fail();
    if (message) bury(message);
  }

  function bury(message: StoredMessage): void {
    const { id, deliveries } = message;
    inbox.bury(message);
    log.warn('a message became a dead letter', { id, deliveries });
    void outbox.announceDead(message);
  }

  async function handBack(): Promise<void> {
    const messages = inbox.takeBack();
    run.changed();
    for (const message of messages) {
      if (await outbox.handBack(message)) continue;
      log.warn('a message could not be handed back; trying again', { id: message.id });
      state.queue.push({ ...message, handBackAt: Date.now() + HAND_BACK_RETRY_MS });
    }
  }

  let retireAt = Date.now() + RETIRE_MS;
  const isDue = () => !outbox.isSending && run.isFull();
  const isUnused = () =>
    state.queue.length === 0 &&
    inbox.deadLetters.all.length === 0 &&
    Date.now() - Math.max(state.signedAt, state.activeAt) >= RETIRE_MS;
  for (;;) {
    const dueAt = inbox.dueAt();
    const wakeAt = Math.min(retireAt, dueAt);
    await condition(() => isDue() || inbox.dueAt() !== dueAt, Math.max(1, wakeAt - Date.now()));
    const failed = inbox.failedAtLast();
    if (failed) {
      bury(failed);
      run.changed();
    }
    if (inbox.handBackAt() <= Date.now()) await handBack();
    if (isDue())
      await run.continueAsNew<typeof mailbox_inbox>({ principal, name, continueAfterChanges, state });
    if (Date.now() < retireAt) continue;
    inbox.expire();
    if (isUnused()) {
      await outbox.leave(state.epoch, true);
      // A message that came meanwhile keeps it.
      if (isUnused()) return;
    }
    retireAt = Date.now() + RETIRE_MS;
  }
}

/**
 * One agent's inbox. Every change is an update, which a validator may refuse without an event in history, or one of two signals. A
 * waiting agent costs no events: leases and heartbeats are compared with the time when the state is read. Timers exist only for
 * messages for anyone that must return to the directory, for leases of last deliveries, and for closing an unused inbox.
 */
import { condition, log, setHandler, setWorkflowOptions } from '@temporalio/workflow';
import { MAX_DELIVERIES } from '../limits.js';
import type { InboxInput, InboxState, StoredMessage } from '../state.js';
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
  type HeldMessage,
} from '../wire.js';
import { Inbox } from './inbox-state.js';
import { Outbox } from './outbox.js';
import { handleUpdate, received, refuse, Run } from './run.js';

/** An empty inbox closes after 7 days without a heartbeat or message. */
const RETIRE_MS = 7 * 24 * 3600_000;
/** Pause before retrying a failed return of a message to the directory, in milliseconds. */
const HAND_BACK_RETRY_MS = 60_000;
/** Epochs count seconds since 2026-01-01, which keeps them short. */
const EPOCH_START_MS = Date.UTC(2026, 0, 1);

export async function mailbox_inbox(input: InboxInput): Promise<void> {
  const { principal, name, continueAfterChanges } = input;
  const inbox = new Inbox(name, principal, input.state ?? emptyInbox(Date.now()));
  const { state } = inbox;
  const run = new Run(() => inbox.memo(), continueAfterChanges);
  const outbox = new Outbox(name);

  const assertEpoch = (epoch: number, isByeAllowed = false): void => {
    if (state.epoch !== epoch) refuse('gone', `another registration has taken over "${name}"`);
    if (state.isBye && !isByeAllowed) refuse('bye', `the session of "${name}" was ended`);
  };

  setHandler(
    registerUpdate,
    (registration) => {
      const wasBye = state.isBye === true;
      const isTakeover = state.registration !== undefined && !wasBye;
      state.epoch = Math.max(state.epoch + 1, Math.floor((Date.now() - EPOCH_START_MS) / 1000));
      state.registration = registration;
      inbox.recordHeartbeat();
      state.activeAt = Date.now();
      delete state.isBye;
      delete state.isRoaming;
      delete state.previous;
      endLease();
      run.changed();
      return { epoch: state.epoch, isTakeover, wasBye };
    },
    { description: 'Registers the agent; ends its earlier session.' },
  );

  handleUpdate(putUpdate, {
    description: 'Adds a message to the queue.',
    validate(message) {
      if (inbox.isConflict(message)) refuse('conflict');
      if (inbox.hasSeen(message.id)) refuse('repeat');
      if (inbox.isFull() && !inbox.hasExpired()) refuse('full');
    },
    apply(message) {
      inbox.expire();
      inbox.put(received(message));
      run.changed();
    },
  });

  handleUpdate(takeUpdate, {
    description: 'Acknowledges the previous message, and delivers the next one under a lease.',
    validate({ epoch, ack, after }) {
      assertEpoch(epoch);
      if (ack !== undefined && inbox.canAcknowledge(ack)) return;
      if (state.queue.length === 0) refuse('nothing');
      const heldMs = inbox.heldMs(after);
      if (heldMs !== undefined)
        refuse('held', 'another wait has the message', { leaseMs: heldMs } satisfies HeldMessage);
    },
    apply({ epoch, ack, after, leaseMs }) {
      if (ack !== undefined) inbox.acknowledge(ack);
      inbox.expire();
      const message = inbox.heldMs(after) === undefined ? nextToDeliver() : undefined;
      if (message) {
        const lease = inbox.take(message, epoch, leaseMs);
        if (isExhausted(message)) lease.isLast = true;
      }
      inbox.recordHeartbeat();
      run.changed();
      return { message, number: message && state.lease!.number, previous: state.previous };
    },
  });

  handleUpdate(releaseUpdate, {
    description: 'Returns a message that did not reach its agent to the queue.',
    validate({ epoch, id, delivery }) {
      assertEpoch(epoch, true);
      if (state.lease?.id !== id || inbox.find(id)?.deliveries !== delivery) refuse('nothing');
    },
    apply({ id }) {
      const message = inbox.find(id)!;
      message.deliveries -= 1;
      if (message.selector) message.handBackAt = Date.now();
      inbox.unlease();
      run.changed();
    },
  });

  handleUpdate(respondUpdate, {
    description: 'Responds to a message, which acknowledges it.',
    validate({ epoch, id, digest }) {
      assertEpoch(epoch, true);
      const done = inbox.outcomeOf(id);
      if (done?.state === 'answered') refuse(done.digest === digest ? 'repeat' : 'answered');
      if (!inbox.canAcknowledge(id) && done?.state !== 'acknowledged') refuse('unknown_message');
    },
    apply({ id, response, digest }) {
      inbox.answer(id, response, digest);
      inbox.recordHeartbeat();
      state.activeAt = Date.now();
      run.changed();
      void outbox.forward(inbox.outcomeOf(id)!);
    },
  });

  handleUpdate(byeUpdate, {
    description: 'Ends the session of the agent.',
    validate({ epoch, parent }) {
      if (!state.registration) refuse('nothing');
      if (epoch !== undefined && state.epoch !== epoch) refuse('gone');
      if (parent !== undefined && state.registration?.parent !== parent) refuse('not_parent');
      if (state.isBye) refuse('repeat');
    },
    apply() {
      endLease();
      inbox.endSession();
      run.changed();
      void outbox.leave(state.epoch, false);
    },
  });

  handleUpdate(reportUpdate, {
    description: 'Reports progress on a message, which renews its lease.',
    validate({ epoch, id }) {
      assertEpoch(epoch);
      const message = inbox.find(id);
      if (!message || state.lease?.id !== id) refuse('unknown_message');
      if (!inbox.mayReport(message)) refuse('too_soon');
    },
    apply(request) {
      inbox.report(request);
      inbox.recordHeartbeat();
      run.changed();
    },
  });

  handleUpdate(settleDeadLetterUpdate, {
    description: 'Resends or drops a dead letter.',
    validate({ id, action, by }) {
      const letter = inbox.findDead(id);
      if (!letter) refuse('unknown_message');
      if (by?.name === name) assertEpoch(by.epoch, true);
      else if (by && letter.from !== by.name) refuse('not_yours');
      if (action === 'resend' && inbox.isFull() && !letter.selector) refuse('full');
    },
    apply({ id, action }) {
      const letter = inbox.findDead(id)!;
      if (action === 'resend') inbox.resend(letter);
      else inbox.settle(letter, { state: 'dropped' });
      run.changed();
    },
  });

  setHandler(
    heartbeatSignal,
    ({ epoch, awayAt, isRoaming }) => {
      if (state.epoch !== epoch || state.isBye) return run.decide();
      if (awayAt === undefined) {
        inbox.recordHeartbeat();
        inbox.renewLease();
        if (isRoaming) state.isRoaming = true;
      } else if (!state.isRoaming) {
        state.awayAt = awayAt;
        state.signedAt = Math.max(state.signedAt, awayAt);
      }
      run.changed();
    },
    { description: 'Heartbeat of the agent, with or without an open wait.' },
  );

  setHandler(
    assignSignal,
    (message) => {
      if (inbox.hasSeen(message.id)) return run.decide();
      if (inbox.isOverflowing() && !message.selector) {
        log.warn('a response was not added to a full inbox; the sender of the request can read it', {
          id: message.id,
        });
        return run.decide();
      }
      inbox.put(message);
      run.changed();
    },
    { description: 'Message for anyone that the directory assigns, or a response.' },
  );

  setHandler(queueQuery, () => ({
    queue: state.queue,
    leased: state.lease?.id,
    leaseUntil: state.lease?.until,
  }));
  setHandler(outcomeQuery, (id) => inbox.statusOf(id) ?? null);
  setHandler(deadLettersQuery, () => inbox.deadLetters);

  /** The next message with deliveries left. Exhausted messages before it become dead letters. */
  function nextToDeliver(): StoredMessage | undefined {
    let message = inbox.next();
    while (message && isExhausted(message)) {
      moveToDeadLetters(message);
      message = inbox.next();
    }
    return message;
  }

  /** Ends the lease of an agent that didn't acknowledge its message. */
  function endLease(): void {
    const message = inbox.endLease();
    if (message) moveToDeadLetters(message);
  }

  function moveToDeadLetters(message: StoredMessage): void {
    inbox.moveToDeadLetters(message);
    const { id, deliveries } = message;
    log.warn('a message became a dead letter', { id, deliveries });
    void outbox.announceDead(message);
  }

  async function handBack(): Promise<void> {
    const messages = inbox.takeDue();
    run.changed();
    for (const message of messages) {
      if (await outbox.handBack(message)) continue;
      log.warn('a message could not be returned to the directory; trying again', { id: message.id });
      state.queue.push({ ...message, handBackAt: Date.now() + HAND_BACK_RETRY_MS });
    }
  }

  let retireAt = Date.now() + RETIRE_MS;
  const isDue = () => !outbox.isSending && run.isFull();
  const isUnused = () =>
    state.queue.length === 0 &&
    inbox.deadLetters.length === 0 &&
    Date.now() - Math.max(state.signedAt, state.activeAt) >= RETIRE_MS;
  for (;;) {
    const dueAt = inbox.dueAt();
    const wakeAt = Math.min(retireAt, dueAt);
    await condition(() => isDue() || inbox.dueAt() !== dueAt, Math.max(1, wakeAt - Date.now()));
    const exhausted = inbox.endExpiredLastLease();
    if (exhausted) {
      moveToDeadLetters(exhausted);
      run.changed();
    }
    if (inbox.handBackAt() <= Date.now()) await handBack();
    if (isDue())
      await run.continueAsNew<typeof mailbox_inbox>({ principal, name, continueAfterChanges, state });
    if (Date.now() < retireAt) continue;
    inbox.expire();
    if (isUnused()) {
      await outbox.leave(state.epoch, true);
      // A message that arrived meanwhile keeps it open.
      if (isUnused()) return;
    }
    retireAt = Date.now() + RETIRE_MS;
  }
}

function isExhausted({ deliveries, maxDeliveries = MAX_DELIVERIES }: StoredMessage): boolean {
  return deliveries >= maxDeliveries;
}

function emptyInbox(now: number): InboxState {
  return { epoch: 0, queue: [], outcomes: [], seen: [], signedAt: 0, activeAt: now, settled: 0 };
}

// It never ends: each build continues the previous build's mailbox.
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, mailbox_inbox);

/** Signals from an inbox to the other workflows of its mailbox. */
import type { SignalDefinition } from '@temporalio/common';
import { getExternalWorkflowHandle, log, workflowInfo } from '@temporalio/workflow';
import { counted } from '../../operations/json/counted.js';
import type { Outcome, StoredMessage } from '../state.js';
import { assignSignal, handBackSignal, leaveSignal, type LeaveNotice } from '../wire.js';

/** Time to live of responses and dead letters' notices: 7 days. */
const TTL_MS = 7 * 24 * 3600_000;

export class Outbox {
  #sending = 0;
  readonly #prefix: string;

  constructor(private readonly name: string) {
    const { workflowId } = workflowInfo();
    this.#prefix = workflowId.slice(0, workflowId.indexOf(':', 'mailbox:'.length) + 1);
  }

  /** Whether a signal is in flight, so the run must not end. */
  get isSending(): boolean {
    return this.#sending > 0;
  }

  /** Sends a response as a message to the agent in `replyTo`. */
  async forward({ id, replyTo, response }: Outcome): Promise<void> {
    if (replyTo === undefined || response === undefined) return;
    const shortId = id.slice(id.indexOf('~') + 1);
    await this.#send(replyTo, shortId, { mode: 'response', content: response, responseTo: id });
  }

  /** Notifies the agent in `replyTo` that a message is a dead letter. */
  async announceDead({ id, replyTo, deliveries }: StoredMessage): Promise<void> {
    if (replyTo === undefined) return;
    const text = `Message ${id} was delivered ${counted(deliveries, 'time')}, last to ${this.name}, and never acknowledged. It is a dead letter now: resend or drop it with dead_letters.`;
    // The response, which may still follow, has another ID.
    const shortId = String(Math.floor(Math.random() * 1e12)).padStart(12, '0');
    await this.#send(replyTo, shortId, { mode: 'dead_letter', content: { text }, responseTo: id });
  }

  async leave(epoch: number, isForgotten: boolean): Promise<void> {
    const leaving: LeaveNotice = { name: this.name, epoch, isForgotten };
    await this.#signal('directory', leaveSignal, leaving);
  }

  /** Returns a message for anyone to the directory. @returns false if it doesn't exist */
  handBack({ handBackAt: _over, ...offer }: StoredMessage): Promise<boolean> {
    return this.#signal('directory', handBackSignal, offer);
  }

  async #send(
    recipient: string,
    shortId: string,
    content: Pick<StoredMessage, 'mode' | 'content'> & { responseTo: string },
  ): Promise<void> {
    const now = Date.now();
    const message: StoredMessage = {
      id: `${recipient}~${shortId}`,
      from: this.name,
      sentAt: now,
      expiresAt: now + TTL_MS,
      deliveries: 0,
      ...content,
    };
    if (await this.#signal(`inbox:${recipient}`, assignSignal, message)) return;
    log.warn('a response or notice could not be sent to reply_to; the sender can read it', {
      id: content.responseTo,
    });
  }

  /** @returns false without such a workflow */
  async #signal<T>(workflow: string, signal: SignalDefinition<[T]>, argument: T): Promise<boolean> {
    this.#sending += 1;
    try {
      await getExternalWorkflowHandle(this.#prefix + workflow).signal(signal, argument);
      return true;
    } catch {
      return false;
    } finally {
      this.#sending -= 1;
    }
  }
}

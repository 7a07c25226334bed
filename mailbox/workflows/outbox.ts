/** What an inbox sends to the other workflows of its mailbox. */
import type { SignalDefinition } from '@temporalio/common';
import { getExternalWorkflowHandle, log, workflowInfo } from '@temporalio/workflow';
import type { Outcome, StoredMessage } from '../state.js';
import { assignSignal, handBackSignal, leaveSignal, type LeaveNotice } from '../wire.js';

/** How long responses and news wait in the inbox of whom they are for, in milliseconds: 7 days. */
const KEPT_MS = 7 * 24 * 3600_000;

export class Outbox {
  #sending = 0;
  /** What the IDs of this mailbox's workflows begin with. */
  readonly #prefix: string;

  /** @param name of the agent whose inbox this is */
  constructor(private readonly name: string) {
    const { workflowId } = workflowInfo();
    this.#prefix = workflowId.slice(0, workflowId.indexOf(':', 'mailbox:'.length) + 1);
  }

  /** Is something on its way, so that the run must not end? */
  get isSending(): boolean {
    return this.#sending > 0;
  }

  /** Sends the response as a message to whom its sender named. */
  async forward({ id, replyTo, response }: Outcome): Promise<void> {
    if (replyTo === undefined || response === undefined) return;
    const shortId = id.slice(id.indexOf('~') + 1);
    await this.#send(replyTo, shortId, { mode: 'response', content: response, responseTo: id });
  }

  /** Sends the news that a message is a dead letter to whom its sender named. */
  async announceDead({ id, replyTo, deliveries }: StoredMessage): Promise<void> {
    if (replyTo === undefined) return;
    const times = `${deliveries} time${deliveries === 1 ? '' : 's'}`;
    const text = `Message ${id} was delivered ${times}, last to ${this.name}, and never acknowledged. It is a dead letter now: resend or drop it with dead_letters.`;
    // Not the response's ID: there may be a response yet.
    const shortId = String(Math.floor(Math.random() * 1e12)).padStart(12, '0');
    await this.#send(replyTo, shortId, { mode: 'dead_letter', content: { text }, responseTo: id });
  }

  /** Tells the directory that this life of the agent is over. */
  async leave(epoch: number, isForgotten: boolean): Promise<void> {
    const leaving: LeaveNotice = { name: this.name, epoch, isForgotten };
    await this.#signal('directory', leaveSignal, leaving);
  }

  /** Returns a message for anyone to the directory. @returns false when there is none */
  handBack({ handBackAt: _over, ...offer }: StoredMessage): Promise<boolean> {
    return this.#signal('directory', handBackSignal, offer);
  }

  async #send(
    recipient: string,
    shortId: string,
    what: Pick<StoredMessage, 'mode' | 'content'> & { responseTo: string },
  ): Promise<void> {
    const now = Date.now();
    const message: StoredMessage = {
      id: `${recipient}~${shortId}`,
      from: this.name,
      sentAt: now,
      expiresAt: now + KEPT_MS,
      deliveries: 0,
      ...what,
    };
    if (await this.#signal(`inbox:${recipient}`, assignSignal, message)) return;
    log.warn('what became of a message could not be forwarded; its sender can read it', {
      id: what.responseTo,
    });
  }

  /** @returns false when there is no such workflow */
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

/** The parts of a review, as the lead sees them. */
import type { Aspect, Finding } from '../lib/review.js';

export interface Part {
  aspect: Aspect;
  /** IDs of the messages that gave it to an agent. */
  messages: string[];
  /** How often it was given. */
  times: number;
  /** When it was given last, in milliseconds. */
  givenAt: number;
  /** Its operation, once an agent has started it. */
  token?: string;
  /** Status of its operation, once that has ended. */
  ended?: string;
  /** Its operation waits for an answer. */
  isAsking?: boolean;
  /** Its agent has left. */
  isOrphan?: boolean;
  isMissing?: boolean;
  findings?: Finding[];
}

export class Parts {
  readonly all: Part[];

  constructor(
    aspects: readonly Aspect[],
    private readonly patienceSeconds: number,
  ) {
    this.all = aspects.map((aspect) => ({ aspect, messages: [], times: 0, givenAt: 0 }));
  }

  areDone(): boolean {
    return this.all.every(isDone);
  }

  byMessage(id: string): Part | undefined {
    return this.all.find(({ messages }) => messages.includes(id));
  }

  byToken(token: string): Part | undefined {
    return this.all.find((part) => part.token === token);
  }

  given(part: Part, messageId: string): void {
    part.messages.push(messageId);
    part.times += 1;
    part.givenAt = Date.now();
    part.isOrphan = false;
  }

  started(aspect: Aspect, token: string): void {
    const part = this.all.find((one) => one.aspect === aspect);
    if (part) part.token = token;
  }

  /** An operation that has ended, or asks, would end each further wait at once. */
  ended(part: Part, status: string): void {
    if (status === 'input_required') part.isAsking = true;
    else part.ended = status;
  }

  watchAgain(token: string): void {
    const part = this.byToken(token);
    if (part) part.isAsking = false;
  }

  /** Tokens for the next wait. */
  watched(): string[] {
    return this.all
      .filter((part) => !isDone(part) && !part.ended && !part.isAsking)
      .flatMap(({ token }) => token ?? []);
  }

  /** Parts that no agent has started in time. */
  unclaimed(): Part[] {
    return this.all.filter((part) => isWaiting(part) && this.#dueAt(part) <= Date.now());
  }

  /** Until the next part is overdue; without one, as long as the client allows. */
  secondsToNext(): number | undefined {
    const due = this.all.filter(isWaiting).map((part) => this.#dueAt(part));
    return due.length ? Math.max(0.1, (Math.min(...due) - Date.now()) / 1000) : undefined;
  }

  #dueAt({ givenAt }: Part): number {
    return givenAt + this.patienceSeconds * 1000;
  }
}

const isDone = ({ findings, isMissing }: Part): boolean => findings !== undefined || isMissing === true;
const isWaiting = (part: Part): boolean => !isDone(part) && part.token === undefined;

/** One operation of a run: started once for sure, polled over all protocols in turn, answered or cancelled, driven to its end. */
import { setTimeout as delay } from 'node:timers/promises';
import { Refused, type ProtocolClient, type Reading } from '../support/protocols/index.js';
import { ANSWER_MS, attempted, CALL_MS } from './limited.js';
import { Observer } from './observer.js';
import type { OperationKind, OperationPlan } from './schedule.js';
import { followStream, type OpenEvents } from './streams.js';
import type { Role, Target, WorkloadTool } from './target.js';
import type { Violations } from './violations.js';

/** Between two polls of an operation, in milliseconds. */
const POLL_MS = 700;
/** Between two polls of an operation that waits for a person. */
const SLOW_POLL_MS = 5_000;
/** Polls that show an operation at work before it is cancelled. */
const POLLS_BEFORE_CANCEL = 5;

export interface Context {
  target: Target;
  protocols: ProtocolClient[];
  events?: OpenEvents;
  ledger: string;
  violations: Violations;
  /** Time by which operations have to be over, in milliseconds of `performance.now()`; Infinity while faults happen. */
  deadline: () => number;
  /** Aborted when the run is interrupted. */
  signal: AbortSignal;
}

export function roleOf(kind: OperationKind): Exclude<Role, 'probe'> {
  return kind === 'waits' ? 'asks' : kind;
}

export class Operation {
  readonly kind: OperationKind;
  readonly name: string;
  readonly observer: Observer;
  readonly tool: WorkloadTool;
  /** Undefined until a start was answered. */
  handle: string | undefined;
  /** Number of starts that were sent. */
  attempts = 0;
  readonly #number: number;
  readonly #isResponseLost: boolean;
  readonly #answered = new Set<string>();
  /** Answers that the server says it has taken, or will. */
  readonly #taken = new Set<number>();
  #isCancelled = false;
  #isAsking = false;
  #mayAnswer = false;
  #ttlMs = Infinity;
  #foundAtMs: number | undefined;
  /** Settles once its event stream was read. */
  #stream: Promise<void> | undefined;

  constructor(
    private readonly context: Context,
    { number, kind, isResponseLost }: OperationPlan,
  ) {
    this.#number = number;
    this.#isResponseLost = isResponseLost;
    this.kind = kind;
    this.name = `${kind}-${number}`;
    this.tool = context.target.tools[roleOf(kind)]!;
    this.observer = new Observer(this.name, context.violations);
  }

  /** Numbers that its question is answered with, by two clients at the same time: others for each operation. */
  get answers(): [number, number] {
    const first = 1_000_003 + 2 * this.#number;
    return [first, first + 1];
  }

  /** Starts it and polls it until it is closed, or waits for a person who answers at the end of the run. */
  async run(): Promise<void> {
    await this.#start();
    this.#follow();
    await this.#drive(() => this.kind === 'waits' && this.#isAsking);
    await this.#readClosed();
  }

  /** Polls an operation that waits for a person until the person may answer, then does so and polls it until it is closed. */
  async finish(mayAnswer: () => boolean): Promise<void> {
    if (this.kind !== 'waits' || this.handle === undefined) return;
    while (!mayAnswer()) {
      await this.#look();
      if (this.observer.isClosed) return this.#unfinished('ended although nobody answered');
      await this.#pause(SLOW_POLL_MS);
    }
    this.#mayAnswer = true;
    await this.#drive(() => false);
    await this.#readClosed();
  }

  #follow(): void {
    const { events: open, violations, deadline, signal } = this.context;
    const { handle, name } = this;
    if (!open || handle === undefined) return;
    this.#stream = followStream({ open, handle, name, violations, deadline, signal });
    // A rejection reaches those that wait for the operation.
    this.#stream.catch(() => undefined);
  }

  /** Closed records are final, on every protocol. */
  async #readClosed(): Promise<void> {
    if (!this.observer.isClosed) return;
    await this.#stream;
    for (const protocol of this.context.protocols) await this.#read(protocol);
  }

  /** Reads it once over each protocol, again until each has answered. */
  async readEverywhere(): Promise<void> {
    if (this.handle === undefined) return;
    for (const protocol of this.context.protocols) {
      const { count } = this.observer;
      for (;;) {
        await this.#read(protocol);
        if (this.observer.count > count || this.#isExpired) break;
        if (performance.now() > this.context.deadline()) {
          this.context.violations.add('lost handle', `${this.name} can't be read over ${protocol.name}`);
          break;
        }
        await this.#pause(POLL_MS);
      }
    }
  }

  async #drive(isDone: () => boolean): Promise<void> {
    while (this.handle !== undefined && !this.observer.isClosed) {
      const reading = await this.#look();
      if (reading) await this.#act(reading);
      if (isDone() || this.observer.isClosed) return;
      if (performance.now() > this.context.deadline()) return this.#unfinished('is not over');
      await this.#pause(POLL_MS);
    }
  }

  #unfinished(what: string): void {
    const { violations } = this.context;
    if (this.#answered.size > 0 && this.#isAsking)
      violations.add('lost answer', `${this.name} still asks ${[...this.#answered].join()}`);
    else violations.add('unfinished', `${this.name} ${what}`);
  }

  /** Calls by turns over all protocols, from that of the operation's number on. */
  #protocol(turn: number): ProtocolClient {
    const { protocols } = this.context;
    return protocols[(this.#number + turn) % protocols.length]!;
  }

  async #start(): Promise<void> {
    const { target, deadline } = this.context;
    let lost: string | undefined;
    while (this.handle === undefined) {
      const handle = await this.#sendStart();
      if (handle !== undefined && this.#isResponseLost && lost === undefined) lost = handle;
      else this.handle = handle;
      if (this.handle !== undefined) break;
      if (performance.now() > deadline()) return this.#unfinished('could not be started');
      await this.#pause(POLL_MS);
    }
    this.#foundAtMs = performance.now();
    if (target.hasIdempotencyKeys && lost !== undefined && lost !== this.handle)
      this.context.violations.add('started twice', `${this.name}, with the same idempotency key`);
  }

  async #sendStart(): Promise<string | undefined> {
    const { target, ledger } = this.context;
    this.attempts += 1;
    const attempt = target.hasIdempotencyKeys ? 1 : this.attempts;
    const name = attempt === 1 ? this.name : `${this.name}~${attempt}`;
    const args = this.tool.args({ name, ledger, attempt });
    return attempted(
      (signal) => this.#protocol(0).start(this.tool.tool, args, `chaos-${this.name}`, signal),
      CALL_MS,
    );
  }

  async #look(): Promise<Reading | undefined> {
    return this.#read(this.#protocol(this.observer.count));
  }

  /** @returns undefined if it could not be read just now */
  async #read(protocol: ProtocolClient): Promise<Reading | undefined> {
    const found = await attempted(
      async (signal) => ({ reading: await readOf(protocol, this.handle!, signal) }),
      CALL_MS,
    );
    if (!found) return undefined;
    const { reading } = found;
    if (!reading && this.observer.isClosed && this.#isExpired) return undefined;
    this.observer.see(protocol.name, reading);
    if (!reading) return undefined;
    this.#isAsking = reading.questions.length > 0;
    const given = (reading.result as { answer?: number } | undefined)?.answer;
    if (given !== undefined && this.#taken.size > 0 && !this.#taken.has(given))
      this.context.violations.add('lost answer', `${this.name} got ${given}, not ${[...this.#taken].join()}`);
    const { ttlMs } = reading.raw as { ttlMs?: number };
    if (typeof ttlMs === 'number') this.#ttlMs = ttlMs;
    return reading;
  }

  /** The server may discard a closed task once its `ttlMs` has passed (specs: ext-tasks, "Task"). */
  get #isExpired(): boolean {
    return performance.now() - this.#foundAtMs! > this.#ttlMs;
  }

  async #act({ questions, progress }: Reading): Promise<void> {
    const { kind, observer, handle } = this;
    if (kind === 'asks' || this.#mayAnswer) {
      for (const { key } of questions) {
        // A client answers a question once: an acknowledged answer counts.
        if (this.#answered.has(key)) continue;
        const sent = await Promise.all(this.answers.map((answer, turn) => this.#answer(key, answer, turn)));
        if (sent.includes(true)) this.#answered.add(key);
      }
    } else if (kind !== 'waits' && questions.length > 0) {
      const [{ key, message }] = questions as [Reading['questions'][number]];
      this.context.violations.add('unexpected question', `${this.name} asks ${key}: ${message}`);
    }
    const isAtWork = (progress?.progress ?? 1) > 0 && observer.count >= POLLS_BEFORE_CANCEL;
    if (kind === 'long' && isAtWork && !this.#isCancelled) {
      const protocol = this.#protocol(observer.count);
      const isKnown = await attempted(async (signal) => {
        await protocol.cancel(handle!, signal);
        return true;
      }, CALL_MS);
      if (isKnown) this.#isCancelled = true;
    }
  }

  /** @returns whether it was acknowledged; some protocols acknowledge answers that do not count */
  async #answer(key: string, answer: number, turn: number): Promise<boolean> {
    const protocol = this.#protocol(this.observer.count + turn);
    const sent = await attempted(
      async (signal) => ({ state: await protocol.answer(this.handle!, key, { answer }, signal) }),
      ANSWER_MS,
    );
    if (sent?.state !== undefined) this.#taken.add(answer);
    if (this.#taken.size > 1)
      this.context.violations.add('two answers', `${this.name}: ${[...this.#taken].join(' and ')} to ${key}`);
    return sent !== undefined;
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.context.signal });
  }
}

/** Servers have to answer -32602 for a task that doesn't exist (specs: ext-tasks, "Protocol Errors"). */
async function readOf(
  protocol: ProtocolClient,
  handle: string,
  signal: AbortSignal,
): Promise<Reading | undefined> {
  try {
    return await protocol.read(handle, signal);
  } catch (error) {
    if (error instanceof Refused && error.code === -32602) return undefined;
    throw error;
  }
}

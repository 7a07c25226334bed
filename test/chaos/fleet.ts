/** The operations of a run: started little by little, driven to their ends, compared with a calm run. */
import { setTimeout as delay } from 'node:timers/promises';
import { timeRuns } from '../../bench/support.js';
import { Operation, roleOf, type Context } from './operations.js';
import { outcomeText } from './records.js';
import type { OperationKind, OperationPlan } from './schedule.js';

/** Operations whose records are read at once at the end. */
const READ_AT_ONCE = 6;
/** Number of the first operation of a calm run: names and answers differ from those of the others. */
const CALM_NUMBER = 900_000;

export class Fleet {
  readonly operations: Operation[] = [];
  /** Settles when an operation is over, or waits for a person. */
  readonly #settled: Promise<void>[] = [];
  /** Settles when an operation is over. */
  readonly #over: Promise<void>[] = [];
  #isAnswering = false;

  constructor(
    private readonly context: Context,
    private readonly plans: OperationPlan[],
  ) {}

  /** One operation of each of these kinds, whose questions are answered at once. */
  static calm(context: Context, kinds: OperationKind[]): Fleet {
    const unique = [...new Set(kinds.map(roleOf))];
    return new Fleet(
      context,
      unique.map((kind, index) => ({ kind, number: CALM_NUMBER + index, isResponseLost: false })),
    );
  }

  /** @param share of all operations that are to be started by now, from 0 to 1 */
  startUpTo(share: number): void {
    while (this.operations.length < Math.ceil(this.plans.length * share)) {
      const operation = new Operation(this.context, this.plans[this.operations.length]!);
      this.operations.push(operation);
      const settled = operation.run();
      const over = settled.then(() => operation.finish(() => this.#isAnswering));
      // A rejection reaches those that wait for the operations.
      over.catch(() => undefined);
      this.#settled.push(settled);
      this.#over.push(over);
    }
  }

  /** Until each is over or waits for a person. */
  async settle(): Promise<void> {
    await Promise.all(this.#settled);
  }

  /** Answers those that wait for a person, and waits until all are over. */
  async end(): Promise<void> {
    this.#isAnswering = true;
    await Promise.all(this.#over);
  }

  /** Reads every record again over each protocol: handles resolve, and closed records are as they were. */
  async readAll(): Promise<void> {
    await timeRuns(this.operations.length, READ_AT_ONCE, (index) => this.operations[index]!.readEverywhere());
  }

  /** Compares the outcomes with those of a calm run, over each protocol. */
  compareWith(calm: Fleet): void {
    const { violations } = this.context;
    for (const operation of this.operations) {
      const twin = calm.operations.find(({ kind }) => kind === roleOf(operation.kind))!;
      for (const [protocol, outcome] of operation.observer.outcomes) {
        const is = outcomeText(outcome, operation);
        const expected = outcomeText(twin.observer.outcomes.get(protocol), twin);
        if (is !== expected)
          violations.add('wrong end', `${operation.name} over ${protocol}: ${is}; calm: ${expected}`);
      }
    }
    const handles = new Set(this.operations.map(({ handle }) => handle).filter(Boolean));
    const started = this.operations.filter(({ handle }) => handle !== undefined).length;
    if (handles.size < started)
      violations.add('not counted', `${started} operations have ${handles.size} handles`);
  }

  /** @param count asks the server. Lists lag by up to seconds */
  async compareCount(count: () => Promise<number>, calm: Fleet, limitMs: number): Promise<void> {
    const started = this.operations.length + calm.operations.length;
    const deadline = performance.now() + limitMs;
    for (;;) {
      const listed = await count().catch(() => undefined);
      if (listed === started) return;
      if (performance.now() > deadline) {
        this.context.violations.add(
          'not counted',
          `${listed} operations are listed; ${started} were started`,
        );
        return;
      }
      await delay(500, undefined, { signal: this.context.signal });
    }
  }

  get polls(): number {
    return this.operations.reduce((sum, { observer }) => sum + observer.count, 0);
  }

  /** Starts that were sent again. */
  get repeatedStarts(): number {
    return this.operations.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0);
  }
}

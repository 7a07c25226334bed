/** Readings of one operation, over all protocols: each is compared with those before. */
import { CLOSED_STATES, type Reading, type State } from '../support/protocols/index.js';
import { canonical, firstDifference } from './records.js';
import type { Violations } from './violations.js';

/** Order of the states: none follows a later one. */
const RANKS: Record<State, number> = {
  submitted: 0,
  working: 1,
  input_required: 1,
  canceling: 2,
  ...(Object.fromEntries(CLOSED_STATES.map((state) => [state, 3])) as Record<
    (typeof CLOSED_STATES)[number],
    3
  >),
};
const CLOSED = RANKS.completed;

export class Observer {
  count = 0;
  /** Whether a reading has shown that the operation is closed. */
  isClosed = false;
  /** Outcome by protocol, once closed. */
  readonly outcomes = new Map<string, unknown>();
  /** Highest rank that a reading has shown for certain. */
  #rank = 0;
  #last: { protocol: string; status: string } | undefined;
  /** Latest values of the fields that only grow, with the protocol that showed them. */
  readonly #growing = new Map<string, { protocol: string; value: number | string }>();
  readonly #closedRecords = new Map<string, unknown>();
  /** Keys of questions that were open at the last reading over a protocol, and those that were open once. */
  readonly #open = new Map<string, Set<string>>();
  readonly #gone = new Map<string, Set<string>>();

  constructor(
    private readonly name: string,
    private readonly violations: Violations,
  ) {}

  /** @param reading undefined if the handle was not found */
  see(protocol: string, reading: Reading | undefined): void {
    this.count += 1;
    if (!reading) {
      this.violations.add('lost handle', `${this.name} is not found over ${protocol}`);
      return;
    }
    this.#compareStatus(protocol, reading);
    this.#compareQuestions(protocol, reading);
    // A share has other units than progress.
    this.#compareGrowing('progress', protocol, reading.progress?.progress);
    this.#compareGrowing('share', protocol, reading.share);
    this.#compareGrowing('time', protocol, reading.updatedAt);
    if (this.isClosed && reading.isOver) this.#compareClosed(protocol, reading);
    this.#last = { protocol, status: reading.status };
  }

  #wentBack(text: string): void {
    this.violations.add('went back', `${this.name}: ${text}`);
  }

  #compareStatus(protocol: string, { status, states }: Reading): void {
    const ranks = states.map((state) => RANKS[state]);
    if (Math.max(...ranks) < this.#rank)
      this.#wentBack(
        `status from ${this.#last?.status} (${this.#last?.protocol}) to ${status} (${protocol})`,
      );
    this.#rank = Math.max(this.#rank, Math.min(...ranks));
    if (this.#rank === CLOSED) this.isClosed = true;
  }

  #compareGrowing(field: string, protocol: string, value: number | string | undefined): void {
    if (value === undefined) return;
    const last = this.#growing.get(field);
    if (last && value < last.value)
      this.#wentBack(`${field} from ${last.value} (${last.protocol}) to ${value} (${protocol})`);
    this.#growing.set(field, { protocol, value });
  }

  #compareQuestions(protocol: string, { questions }: Reading): void {
    const open = this.#open.get(protocol) ?? new Set();
    const gone = this.#gone.get(protocol) ?? new Set();
    const keys = new Set(questions.map(({ key }) => key));
    for (const key of keys) if (gone.has(key)) this.#wentBack(`question ${key} is open again (${protocol})`);
    for (const key of open) if (!keys.has(key)) gone.add(key);
    this.#open.set(protocol, keys);
    this.#gone.set(protocol, gone);
  }

  #compareClosed(protocol: string, { status, result, raw }: Reading): void {
    const { result: answer, error } = raw as { result?: { content?: unknown }; error?: unknown };
    this.outcomes.set(protocol, { status, result, content: answer?.content, error });
    const record = canonical(raw);
    if (!this.#closedRecords.has(protocol)) this.#closedRecords.set(protocol, record);
    const difference = firstDifference(this.#closedRecords.get(protocol), record);
    if (difference) this.violations.add('changed record', `${this.name} over ${protocol}: ${difference}`);
  }
}

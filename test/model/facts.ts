/**
 * The model of one operation: all that is known of it from the calls that were made and the answers that came. A reading must
 * fit what was known when its call was sent; what it adds is known to every later call, over whichever protocol.
 */
import { CLOSED_STATES, type GivenAnswer, type Reading, type State } from '../support/protocols/index.js';

/** States that can follow a state, with itself. */
const FOLLOWING: Record<State, readonly State[]> = {
  submitted: ['submitted', 'working', 'input_required', 'canceling', ...CLOSED_STATES],
  working: ['working', 'input_required', 'canceling', ...CLOSED_STATES],
  input_required: ['working', 'input_required', 'canceling', ...CLOSED_STATES],
  canceling: ['canceling', 'canceled'],
  completed: ['completed'],
  failed: ['failed'],
  canceled: ['canceled'],
  timed_out: ['timed_out'],
};
const CANCELED: readonly State[] = ['canceling', 'canceled'];

/** The work that a test asked for. */
export interface Plan {
  tool: 'steered' | 'two_steps';
  args: Record<string, unknown>;
  ends: 'completed' | 'failed';
  /** Number of questions. */
  questions: number;
  areAtOnce: boolean;
}

interface Given {
  answer: GivenAnswer;
  /** `accepted`: also an answer that is queued. `maybe`: no answer came, or the protocol doesn't say. */
  outcome: 'accepted' | 'maybe';
}

/** Whether an answer is one that was given before: the same answer again gets the same response. */
export function isRepeated(facts: Facts, key: string, answer: GivenAnswer): boolean {
  return (facts.given[key] ?? []).some((given) => JSON.stringify(given.answer) === JSON.stringify(answer));
}

export interface Facts {
  /** States that it can be in from now on. */
  reachable: State[];
  isClosed: boolean;
  progress: number;
  /** Share of the work, rounded down as two-stage returns round it. */
  share: number;
  updatedAt: string;
  /** Keys of questions that are open until they are answered or a cancel is sent. */
  open: string[];
  /** Keys of questions that have been answered. */
  answered: string[];
  given: Record<string, Given[]>;
  /** Answers of each client once it is closed, as JSON. */
  closed: Record<string, string>;
}

export function newFacts({ ends, questions }: Plan): Facts {
  return {
    reachable: ['submitted', 'working', ...(questions > 0 ? ['input_required' as const] : []), ends],
    isClosed: false,
    progress: 0,
    share: 0,
    updatedAt: '',
    open: [],
    answered: [],
    given: {},
    closed: {},
  };
}

/** Facts that contradict the model. */
export class Violation extends Error {
  override name = 'Violation';
}

export function assert(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Violation(message());
}

/** A cancel is about to be sent: it may take effect at any time from now on. */
export function cancelSent(facts: Facts): void {
  facts.open = [];
  if (!facts.isClosed) facts.reachable = [...new Set([...facts.reachable, ...CANCELED])];
}

/** @param isFinal the answer to the cancel, as `ProtocolClient.cancel` returns it */
export function cancelAcknowledged(facts: Facts, isFinal: boolean | undefined): void {
  const ended = CLOSED_STATES.filter((state) => state !== 'canceled');
  const allowed = isFinal === undefined ? [...CANCELED, ...ended] : isFinal ? CANCELED : ended;
  narrow(facts, allowed, `a cancel was answered with ${String(isFinal)}`);
}

/** An answer is about to be sent. @returns whether its question is open for sure */
export function answerSent(facts: Facts, key: string): boolean {
  const isOpen = facts.open.includes(key);
  facts.open = facts.open.filter((other) => other !== key);
  return isOpen;
}

export function answerTaken(facts: Facts, key: string, given: Given): void {
  facts.open = facts.open.filter((other) => other !== key);
  const before = (facts.given[key] ??= []);
  if (given.outcome === 'accepted') {
    const others = before.filter(({ answer }) => JSON.stringify(answer) !== JSON.stringify(given.answer));
    assert(!others.some(({ outcome }) => outcome === 'accepted'), () => `${key}: two answers are accepted`);
    if (!facts.answered.includes(key)) facts.answered.push(key);
  }
  before.push(given);
}

/**
 * Checks a reading.
 *
 * @param before what was known when its call was sent
 * @param facts what is known now, with the answers that were given at the same time
 */
function check(before: Facts, facts: Facts, plan: Plan, client: string, reading: Reading): void {
  const { states, progress, share, questions, updatedAt, answers, raw } = reading;
  const said = () => `${client}: ${JSON.stringify(raw)}`;
  assert(
    states.some((state) => before.reachable.includes(state)),
    () => `status is ${states.join(' or ')}; only ${before.reachable.join(', ')} can follow. ${said()}`,
  );
  if (progress)
    assert(
      progress.progress >= before.progress,
      () => `progress fell from ${before.progress} to ${progress.progress}. ${said()}`,
    );
  if (share !== undefined)
    assert(share >= before.share, () => `the share fell from ${before.share} to ${share}. ${said()}`);
  if (updatedAt !== undefined)
    assert(
      updatedAt >= before.updatedAt,
      () => `its time fell from ${before.updatedAt} to ${updatedAt}. ${said()}`,
    );
  for (const { key, message } of questions) {
    assert(!before.answered.includes(key), () => `${key} is asked again. ${said()}`);
    const number = Number(key.slice('input-'.length));
    assert(
      message === `Question ${number} of ${plan.questions}`,
      () => `${key} is another question: ${message}. ${said()}`,
    );
  }
  if (!plan.areAtOnce) assert(questions.length <= 1, () => `expected at most one open question. ${said()}`);
  const keys = keysOfAnswers(reading);
  assert(new Set(keys).size === keys.length, () => `a question was answered twice. ${said()}`);
  if (answers)
    for (const key of before.answered)
      assert(keys.includes(key), () => `${key} was answered, and the answer is missing. ${said()}`);
  if (reading.isOver) assert(questions.length === 0, () => `it is over and asks. ${said()}`);
  if (states.length === 1 && states[0] === 'completed') checkResult(facts, plan, reading.result, said);
  if (before.isClosed && client in before.closed)
    assert(
      JSON.stringify(raw) === before.closed[client],
      () => `a closed record changed from ${before.closed[client]}. ${said()}`,
    );
}

/** Keys of the questions whose answers count, or will once there is a worker. */
function keysOfAnswers({ answers = [] }: Reading): string[] {
  return answers.filter(({ state }) => state !== 'refused').map(({ key }) => key);
}

/** The result has each question's accepted answer; where none is known to be accepted, one that was sent. */
function checkResult({ given }: Facts, plan: Plan, result: any, said: () => string): void {
  if (plan.tool !== 'steered') return;
  const got: unknown[] = result?.answers ?? [];
  assert(got.length === plan.questions, () => `expected ${plan.questions} answers. ${said()}`);
  got.forEach((value, index) => {
    const all = given[`input-${index + 1}`] ?? [];
    const accepted = all.filter(({ outcome }) => outcome === 'accepted');
    const allowed = (accepted.length ? accepted : all).map(({ answer }) =>
      answer === 'decline' ? 'declined' : answer['value'],
    );
    assert(
      allowed.includes(value),
      () =>
        `input-${index + 1}: the work got ${JSON.stringify(value)}; given: ${JSON.stringify(all)}. ${said()}`,
    );
  });
}

/**
 * Checks a reading and adds what it shows.
 *
 * @param before copy of the facts from the time when its call was sent
 * @throws Violation
 */
export function add(facts: Facts, before: Facts, plan: Plan, client: string, reading: Reading): void {
  check(before, facts, plan, client, reading);
  const { states, progress, share, questions, updatedAt, raw } = reading;
  const following = new Set(
    states.filter((state) => before.reachable.includes(state)).flatMap((state) => FOLLOWING[state]),
  );
  narrow(facts, [...following], `${client}: ${JSON.stringify(raw)}`);
  const isClosed = states.every((state) => (CLOSED_STATES as readonly State[]).includes(state));
  facts.isClosed ||= isClosed;
  facts.progress = Math.max(facts.progress, progress?.progress ?? 0);
  const ratio = progress?.total ? Math.min(1, progress.progress / progress.total) : 0;
  facts.share = Math.max(facts.share, share ?? 0, Math.floor(ratio * 10_000) / 10_000);
  if (updatedAt !== undefined && updatedAt > facts.updatedAt) facts.updatedAt = updatedAt;
  for (const key of keysOfAnswers(reading)) if (!facts.answered.includes(key)) facts.answered.push(key);
  const isCancelSent = CANCELED.some((state) => facts.reachable.includes(state));
  facts.open = isCancelSent
    ? []
    : questions.map(({ key }) => key).filter((key) => !facts.answered.includes(key) && !(key in facts.given));
  if (facts.isClosed) facts.open = [];
  if (isClosed || before.isClosed) facts.closed[client] ??= JSON.stringify(raw);
}

export function narrow(facts: Facts, allowed: readonly State[], why: string): void {
  const left = facts.reachable.filter((state) => allowed.includes(state));
  assert(left.length > 0, () => `only ${facts.reachable.join(', ')} can follow, but ${why}`);
  facts.reachable = left;
}

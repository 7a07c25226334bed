/**
 * Calls about operations, as the model sees them: each is prepared (what may happen from now on), sent, and its outcome applied.
 * The three are apart so that several calls can be under way at the same time.
 */
import { Refused, type GivenAnswer, type ProtocolClient, type Reading } from '../support/protocols/index.js';
import {
  add,
  answerSent,
  answerTaken,
  assert,
  cancelAcknowledged,
  cancelSent,
  isRepeated,
  narrow,
  newFacts,
  Violation,
  type Facts,
  type Plan,
} from './facts.js';

export interface Operation {
  plan: Plan;
  /** Idempotency key; undefined for one that resumes another. */
  key?: string;
  /** Undefined while no answer to a start has come. */
  token?: string;
  facts: Facts;
  resumedFrom?: string;
  /** The operation that resumes it. */
  resumed?: Operation;
}

export interface Model {
  /** Makes the keys of a sequence its own. */
  prefix: string;
  operations: Operation[];
  /** How often the sequence may still do without a worker: it takes seconds. */
  stopsLeft: number;
}

/** A call with its client. */
export interface Sending {
  client: ProtocolClient;
  /** Closes the connection after this time, in milliseconds. Default: not at all. */
  lostAfterMs?: number | undefined;
  /** Whether another call is under way at the same time. */
  isRacing: boolean;
}

/** A prepared call. Its outcome is applied once all calls of its time have ended. */
export interface Call {
  /** Reads are applied last. */
  isRead: boolean;
  send(): Promise<() => void>;
}

type Outcome<T> = { value: T } | { refused: Refused } | 'lost';

/** @throws Error when no answer came though the connection was not closed by this side */
async function outcomeOf<T>(
  { client, lostAfterMs }: Sending,
  call: (signal?: AbortSignal) => Promise<T>,
): Promise<Outcome<T>> {
  const signal = lostAfterMs === undefined ? undefined : AbortSignal.timeout(lostAfterMs);
  try {
    return { value: await call(signal) };
  } catch (error) {
    if (error instanceof Refused) return { refused: error };
    if (signal?.aborted) return 'lost';
    throw new Error(`${client.name}: no answer`, { cause: error });
  }
}

/** @throws Violation for a refusal of another kind */
function assertRefused({ kind, message }: Refused, kinds: string[], what: string): void {
  if (!kinds.includes(kind ?? '')) throw new Violation(`${what} was refused with ${kind}: ${message}`);
}

export function start(sending: Sending, operation: Operation): Call {
  const { client } = sending;
  const { plan, key } = operation;
  return {
    isRead: false,
    async send() {
      const outcome = await outcomeOf(sending, (signal) => client.start(plan.tool, plan.args, key!, signal));
      return () => {
        if (outcome === 'lost') return;
        if ('refused' in outcome)
          throw new Violation(`${client.name}: a start was refused: ${outcome.refused.message}`);
        const { token = outcome.value } = operation;
        assert(
          outcome.value === token,
          () => `${client.name}: the same start gave ${outcome.value}; before it was ${token}`,
        );
        operation.token = token;
      };
    },
  };
}

/** A start with the key of another operation. It is known to have begun. */
export function startChanged(sending: Sending, { plan, key, token }: Operation): Call {
  const { client } = sending;
  const args = { ...plan.args, ...(plan.tool === 'steered' ? { units: 9 } : { seconds: 0.01 }) };
  return {
    isRead: false,
    async send() {
      const outcome = await outcomeOf(sending, (signal) => client.start(plan.tool, args, key!, signal));
      return () => {
        if (outcome === 'lost') return;
        if (!('refused' in outcome))
          throw new Violation(
            `${client.name}: other arguments with the key of ${token} gave ${outcome.value}`,
          );
        assertRefused(outcome.refused, ['conflict'], `${client.name}: a start with other arguments`);
      };
    },
  };
}

/** @param call of the client: a read or a wait */
export function read(
  sending: Sending,
  operation: Operation,
  call: (signal?: AbortSignal) => Promise<Reading | undefined>,
): Call {
  const { client } = sending;
  const { facts, plan, resumedFrom } = operation;
  let before: Facts;
  return {
    isRead: true,
    async send() {
      before = structuredClone(facts);
      const outcome = await outcomeOf(sending, call);
      return () => {
        if (outcome === 'lost') return;
        if ('refused' in outcome) throw new Violation(`${client.name}: a read: ${outcome.refused.message}`);
        const { value: reading } = outcome;
        assert(reading !== undefined, () => `${client.name}: not found`);
        add(facts, before, plan, client.name, reading);
        if (reading.resumedFrom !== undefined)
          assert(reading.resumedFrom === resumedFrom, () => `resumed from ${reading.resumedFrom}`);
      };
    },
  };
}

const isValid = (given: GivenAnswer) => given === 'decline' || Number.isInteger(given['value']);

export function answer(sending: Sending, operation: Operation, key: string, given: GivenAnswer): Call {
  const { client, isRacing } = sending;
  const { facts, plan, token } = operation;
  const isOpen = answerSent(facts, key) && !isRacing;
  const before = structuredClone(facts);
  const what = `${client.name}: ${JSON.stringify(given)} for ${key}`;
  return {
    isRead: false,
    async send() {
      const outcome = await outcomeOf(sending, (signal) => client.answer(token!, key, given, signal));
      return () => {
        if (outcome !== 'lost' && 'refused' in outcome) {
          const { refused } = outcome;
          if (refused.isRetryable) return answerTaken(facts, key, { answer: given, outcome: 'maybe' });
          // An answer without effect doesn't say which of the two it was.
          assertRefused(refused, isValid(given) ? ['wrong_state'] : ['invalid_answer', 'wrong_state'], what);
          if (isOpen && isValid(given)) throw new Violation(`${what} was refused: ${refused.message}`);
          return;
        }
        const state = outcome === 'lost' ? undefined : outcome.value;
        if (!isValid(given)) {
          if (isOpen && outcome !== 'lost') throw new Violation(`${what} was not refused`);
          assert(state === undefined, () => `${what} was ${state}`);
          return;
        }
        const wasOpen =
          !before.isClosed && !before.answered.includes(key) && Number(key.slice(6)) <= plan.questions;
        if (state !== undefined)
          assert(
            wasOpen || isRepeated(facts, key, given),
            () => `${what} was ${state}, though the question was not open`,
          );
        const isTaken = state !== undefined || (outcome !== 'lost' && isOpen);
        answerTaken(facts, key, { answer: given, outcome: isTaken ? 'accepted' : 'maybe' });
      };
    },
  };
}

/** Answers that the server does not send, and that count for nothing: of their kind, each is a signal to the workflow. */
export const FORGED = {
  'no answer': undefined,
  'answer without form': { action: 'accept', content: null },
  'unknown action': { action: 'maybe' },
  'content that does not fit': { action: 'accept', content: { value: 'text' } },
  'name without form': { action: 'decline' },
} as const;
export type Forged = keyof typeof FORGED;

/** Sends an answer as a signal, past the server. */
export type SendSignal = (token: string, input: unknown) => Promise<void>;

/** A signal that blocks no answer. */
export function forge(send: SendSignal, { token }: Operation, key: string, forged: Forged): Call {
  const answer = FORGED[forged];
  const by = forged === 'name without form' ? { by: null, signature: 'x' } : {};
  return {
    isRead: false,
    async send() {
      await send(token!, answer && { key, answerId: `forged-${forged}`, answer, ...by });
      return () => undefined;
    },
  };
}

/** A signal of an operator, who may answer as well. */
export function signal(
  send: SendSignal,
  { facts, token }: Operation,
  key: string,
  value: number,
  answerId: string,
): Call {
  answerSent(facts, key);
  return {
    isRead: false,
    async send() {
      await send(token!, { key, answerId, answer: { action: 'accept', content: { value } } });
      return () => answerTaken(facts, key, { answer: { value }, outcome: 'maybe' });
    },
  };
}

export function cancel(sending: Sending, { facts, token }: Operation): Call {
  const { client } = sending;
  const wasClosed = facts.isClosed;
  cancelSent(facts);
  return {
    isRead: false,
    async send() {
      const outcome = await outcomeOf(sending, (signal) => client.cancel(token!, signal));
      return () => {
        if (outcome === 'lost') return;
        if ('refused' in outcome) {
          if (outcome.refused.isRetryable) return;
          throw new Violation(`${client.name}: a cancel was refused: ${outcome.refused.message}`);
        }
        cancelAcknowledged(facts, outcome.value);
        if (outcome.value === false) facts.isClosed = true;
        assert(!wasClosed || facts.isClosed, () => 'it was closed');
      };
    },
  };
}

export function resume(sending: Sending, operation: Operation, model: Model): Call {
  const { client } = sending;
  const { facts, plan, token } = operation;
  const before = structuredClone(facts);
  const mustBegin =
    plan.tool === 'two_steps' &&
    before.isClosed &&
    before.reachable.every((state) => state === 'failed' || state === 'canceled');
  return {
    isRead: false,
    async send() {
      const outcome = await outcomeOf(sending, (signal) => client.resume!(token!, signal));
      return () => {
        if (outcome === 'lost') return;
        if ('refused' in outcome) {
          const { refused } = outcome;
          if (refused.isRetryable) return;
          if (mustBegin) throw new Violation(`${client.name}: a resume was refused: ${refused.message}`);
          assertRefused(refused, ['wrong_state', 'invalid_arguments'], `${client.name}: a resume`);
          return;
        }
        assert(plan.tool === 'two_steps', () => `${client.name}: resumed, though no pipeline`);
        narrow(facts, ['failed', 'canceled'], `${client.name} has resumed it`);
        facts.isClosed = true;
        const began = outcome.value;
        assert(began !== token, () => `${client.name}: resumed as itself`);
        if (operation.resumed) {
          const { token: known } = operation.resumed;
          assert(began === known, () => `${client.name}: resumed as ${began}; before as ${known}`);
          return;
        }
        operation.resumed = { plan, token: began, facts: newFacts(plan), resumedFrom: token! };
        model.operations.push(operation.resumed);
      };
    },
  };
}

/** Sends calls at the same time, and applies their outcomes. */
export async function together(calls: Call[]): Promise<void> {
  const sent = await Promise.all(calls.map(async (call) => ({ call, apply: await call.send() })));
  for (const { call, apply } of sent) if (!call.isRead) apply();
  for (const { call, apply } of sent) if (call.isRead) apply();
}

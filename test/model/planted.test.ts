/** The model check finds defects: each of those that are planted into its clients. */
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { forAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import {
  CLOSED_STATES,
  protocolClients,
  type ProtocolClient,
  type Reading,
} from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { fitsModel } from './property.js';

jest.setTimeout(INSTALL_MS);

/** Sequences within which a defect has to be found; most show in the first ones. */
const MOST_RUNS = 60;
/** A fixed one: the drawn sequences are the same in each run of the tests. */
const SEED = 1;

/** @param memory shared by all clients */
type Plant = (client: ProtocolClient, memory: Map<string, any>) => Partial<ProtocolClient>;

/** Changes the readings of a client, those of its waits too. */
function withReadings(
  client: ProtocolClient,
  change: (token: string, reading: Reading) => Reading,
): Partial<ProtocolClient> {
  const changed = (token: string, reading: Reading | undefined) => reading && change(token, reading);
  return {
    read: async (token, signal) => changed(token, await client.read(token, signal)),
    ...(client.wait && {
      wait: async (token: string, seconds: number, signal?: AbortSignal) =>
        changed(token, await client.wait!(token, seconds, signal)),
    }),
  };
}

const isClosed = ({ states }: Reading) =>
  states.every((state) => (CLOSED_STATES as readonly string[]).includes(state));

/** Defects by what a user would see, with the violations that show them. */
const PLANTED: [name: string, shownAs: RegExp, plant: Plant][] = [
  [
    'a status that falls back',
    /^status is |answer is missing|asked again| fell from /,
    (client, memory) =>
      withReadings(client, (token, reading) => {
        const first = memory.get(token) ?? reading;
        memory.set(token, first);
        return isClosed(reading) && !isClosed(first) ? first : reading;
      }),
  ],
  [
    'an answer that is confirmed and lost',
    /accepted, though|asked again|answer is missing|two answers/,
    () => ({ answer: async () => 'accepted' }),
  ],
  [
    'another answer than the one that was given',
    /the work got|accepted, though/,
    (client) => ({
      answer: (token, key, given, signal) => {
        const isForm = given !== 'decline' && Number.isInteger(given['value']);
        return client.answer(token, key, isForm ? { value: -1 } : given, signal);
      },
    }),
  ],
  ['a cancel that is confirmed and lost', /can follow/, () => ({ cancel: async () => true })],
  [
    'a key that starts twice',
    /the same start gave/,
    (client, memory) => ({
      start(tool, args, key, signal) {
        const times = (memory.get(key) ?? 0) + 1;
        memory.set(key, times);
        return client.start(tool, args, times === 1 ? key : `${key}-${times}`, signal);
      },
    }),
  ],
  [
    'a resume that gives another operation each time',
    /resumed as .*; before as/,
    (client, memory) =>
      client.resume
        ? {
            async resume(token, signal) {
              const resumed = await client.resume!(token, signal);
              if (memory.has(resumed))
                return client.start('two_steps', { ends: 'completed' }, `${token}-${memory.size}`, signal);
              memory.set(resumed, true);
              return resumed;
            },
          }
        : {},
  ],
  [
    'a closed record that changes',
    /^a closed record changed/,
    (client, memory) =>
      withReadings(client, (token, reading) => {
        memory.set(token, (memory.get(token) ?? 0) + 1);
        return isClosed(reading) ? { ...reading, raw: [reading.raw, memory.get(token)] } : reading;
      }),
  ],
];

const stack = await forAllTests(TestStack.shared());

test.each(PLANTED)('%s is found', async (_name, shownAs, plant) => {
  const memory = new Map<string, any>();
  const clients = protocolClients(stack.base).map((client) => ({ ...client, ...plant(client, memory) }));
  const { failed, errorInstance } = await fc.check(fitsModel({ stack, clients }), {
    seed: SEED,
    numRuns: MOST_RUNS,
    endOnFailure: true,
  });
  expect([failed, errorInstance]).toEqual([true, expect.objectContaining({ name: 'Violation' })]);
  expect((errorInstance as Error).message).toMatch(shownAs);
});

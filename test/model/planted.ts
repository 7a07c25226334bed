/** Defects that the model has to find, each planted into clients that work otherwise. */
import { CLOSED_STATES, Refused, type ProtocolClient, type Reading } from '../support/protocols/index.js';

type Plant = (client: ProtocolClient, memory: Map<string, any>) => Partial<ProtocolClient>;

/** Changes the readings of a client, those of its waits too. */
function withReadings(
  client: ProtocolClient,
  change: (token: string, reading: Reading) => Reading,
): Partial<ProtocolClient> {
  const changed = (token: string, reading: Reading | undefined) => reading && change(token, reading);
  return {
    read: async (token, signal) => changed(token, await client.read(token, signal)),
    ...(client.wait
      ? {
          wait: async (token: string, seconds: number, signal?: AbortSignal) =>
            changed(token, await client.wait!(token, seconds, signal)),
        }
      : {}),
  };
}

const isClosed = ({ states }: Reading) =>
  states.every((state) => (CLOSED_STATES as readonly string[]).includes(state));

/** By what the user would see. */
export const PLANTED: Record<string, Plant> = {
  'a status that falls back': (client, memory) =>
    withReadings(client, (token, reading) => {
      const first = memory.get(token) ?? reading;
      memory.set(token, first);
      return isClosed(reading) && !isClosed(first) ? first : reading;
    }),
  'progress that falls': (client, memory) =>
    withReadings(client, (token, reading) => {
      const progress = reading.progress?.progress ?? 0;
      const last = memory.get(token) ?? 0;
      memory.set(token, progress);
      return progress > 1 && progress === last
        ? { ...reading, progress: { ...reading.progress, progress: progress - 1 } }
        : reading;
    }),
  'an answer that is confirmed and lost': () => ({ answer: async () => 'accepted' }),
  'a second answer that is acknowledged as queued': (client) => ({
    answer: (token, key, given, signal) =>
      client.answer(token, key, given, signal).catch((error: unknown) => {
        if (error instanceof Refused && error.kind === 'wrong_state') return 'queued';
        throw error;
      }),
  }),
  'another answer than the one that was given': (client) => ({
    answer: (token, key, given, signal) =>
      client.answer(
        token,
        key,
        given === 'decline' || !Number.isInteger(given['value']) ? given : { value: -1 },
        signal,
      ),
  }),
  'a question that is asked again': (client, memory) =>
    withReadings(client, (token, reading) => {
      const asked = memory.get(token) ?? reading.questions;
      memory.set(token, asked);
      return !reading.isOver && reading.questions.length === 0 ? { ...reading, questions: asked } : reading;
    }),
  'a cancel that is confirmed and lost': () => ({ cancel: async () => true }),
  'a key that starts twice': (client, memory) => ({
    start(tool, args, key, signal) {
      const times = (memory.get(key) ?? 0) + 1;
      memory.set(key, times);
      return client.start(tool, args, times === 1 ? key : `${key}-${times}`, signal);
    },
  }),
  'a key that is not compared with its arguments': (client, memory) => ({
    start(tool, args, key, signal) {
      const first = memory.get(key) ?? args;
      memory.set(key, first);
      return client.start(tool, first, key, signal);
    },
  }),
  'a resume that gives another operation each time': (client, memory) => ({
    ...(client.resume
      ? {
          async resume(token: string, signal?: AbortSignal) {
            const resumed = await client.resume!(token, signal);
            if (!memory.has(resumed)) {
              memory.set(resumed, true);
              return resumed;
            }
            return client.start('two_steps', { ends: 'completed' }, `${token}-${memory.size}`, signal);
          },
        }
      : {}),
  }),
  'a closed record that changes': (client, memory) =>
    withReadings(client, (token, reading) => {
      memory.set(token, (memory.get(token) ?? 0) + 1);
      return isClosed(reading) ? { ...reading, raw: [reading.raw, memory.get(token)] } : reading;
    }),
};

/** The clients with a defect in all of them. */
export function withDefect(clients: ProtocolClient[], plant: Plant): ProtocolClient[] {
  const memory = new Map<string, any>();
  return clients.map((client) => ({ ...client, ...plant(client, memory) }));
}

/** Violations that show the defects, by their names. */
export const SHOWN_AS: Record<string, RegExp> = {
  'a status that falls back': /^status is |answer is missing|asked again| fell from /,
  'progress that falls': /^progress fell /,
  'an answer that is confirmed and lost': /accepted, though|asked again|answer is missing|two answers/,
  'a second answer that is acknowledged as queued':
    /two answers|(queued|accepted), though|the work got|answer is missing/,
  'another answer than the one that was given': /the work got|accepted, though/,
  'a question that is asked again': /asked again|at most one open question/,
  'a cancel that is confirmed and lost': /can follow/,
  'a key that starts twice': /the same start gave/,
  'a key that is not compared with its arguments': /other arguments with the key/,
  'a resume that gives another operation each time': /resumed as .*; before as/,
  'a closed record that changes': /^a closed record changed/,
};

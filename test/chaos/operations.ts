/** The operations of a chaos run: of several kinds, each started once for sure and driven to its end. */
import { setTimeout as delay } from 'node:timers/promises';
import { Polls, type Clients } from './polls.js';

/** Between two polls of an operation, in milliseconds. */
const POLL_MS = 700;
/** How long an operation may take after the last kill, in milliseconds. */
const END_LIMIT_MS = 180_000;
const BATCHES = { batches: 3, secondsEach: 2 };

interface Kind {
  tool: string;
  args: object;
  /** Status of its job in the end. */
  ends: 'succeeded' | 'failed' | 'canceled';
  /** The user's action once the operation has reached this point. */
  act?: (clients: Clients, token: string, progress: number) => Promise<unknown>;
}

const answer = ({ wire }: Clients, token: string) =>
  wire.request('tools/call', {
    name: 'operation_answer',
    arguments: { token, key: 'input-1', content: { ok: true } },
  });
const cancel = ({ jobs }: Clients, token: string) => jobs.post(`/v1/jobs/${token}:cancel`);

const KINDS: Kind[] = [
  { tool: 'batches', args: BATCHES, ends: 'succeeded' },
  { tool: 'steps', args: {}, ends: 'succeeded' },
  {
    tool: 'batches',
    args: { ...BATCHES, ends: 'asks' },
    ends: 'succeeded',
    act: async (clients, token, progress) => progress >= 30 && answer(clients, token),
  },
  { tool: 'steps', args: {}, ends: 'succeeded' },
  { tool: 'batches', args: { ...BATCHES, ends: 'failed' }, ends: 'failed' },
  {
    tool: 'batches',
    args: { ...BATCHES, batches: 30 },
    ends: 'canceled',
    act: async (clients, token, progress) => progress >= 12 && cancel(clients, token),
  },
];

export interface Outcome {
  name: string;
  tool: string;
  polls: number;
  violations: string[];
}

/**
 * Starts the operation and polls it until it is over.
 *
 * @param number of the operation: its kind and the protocol that starts it go by turns
 * @param killing resolves after the last kill
 */
export async function runOperation(
  clients: Clients,
  number: number,
  ledger: string,
  killing: Promise<unknown>,
): Promise<Outcome> {
  const kind = KINDS[number % KINDS.length]!;
  const name = `${kind.tool}-${number}`;
  const args = { ledger, ...(kind.tool === 'steps' ? {} : kind.args), name };
  const token = await startOnce(clients, number, kind.tool, args);
  const polls = new Polls(clients, token, name);
  let deadline = Infinity;
  void killing.then(() => (deadline = performance.now() + END_LIMIT_MS));
  for (;;) {
    const seen = await polls.look();
    if (seen?.isOver) break;
    if (performance.now() > deadline) {
      polls.violations.push(`${name} is not over ${END_LIMIT_MS / 1000} s after the last kill`);
      break;
    }
    if (seen) await kind.act?.(clients, token, seen.progress).catch(() => undefined);
    await delay(POLL_MS);
  }
  const ended = await untilAnswered(async () => {
    const { status, body } = await clients.jobs.get(`/v1/jobs/${token}`);
    return status === 200 ? String(body.status) : undefined;
  });
  if (ended !== kind.ends) polls.violations.push(`${name} ended ${ended}; expected ${kind.ends}`);
  // Terminal states are final, on every protocol.
  for (let look = 0; look < 3; look += 1) await untilAnswered(() => polls.look());
  return { name, tool: kind.tool, polls: polls.count, violations: polls.violations };
}

/** Makes the same call with the same key until an answer comes: answers are lost, calls aren't doubled. */
async function startOnce(
  { wire, jobs }: Clients,
  number: number,
  tool: string,
  args: Record<string, unknown>,
): Promise<string> {
  const key = `chaos-${number}`;
  const starts = [
    async () =>
      (await wire.request('tools/call', { name: tool, arguments: { ...args, idempotency_key: key } })).result
        ?.taskId,
    async () =>
      (
        await wire.with({}).request('tools/call', {
          name: tool,
          arguments: { ...args, wait: false },
          _meta: { 'longhaul/idempotencyKey': key },
        })
      ).result?.structuredContent?.token,
    () => jobs.start(tool, args, { 'idempotency-key': key }),
  ];
  return untilAnswered(starts[number % starts.length]!);
}

async function untilAnswered<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answered = await ask().catch(() => undefined);
    if (answered !== undefined) return answered;
    await delay(POLL_MS);
  }
}

/**
 * Storms: the given number of agents register at once, get a message each at once, get one message to all of them, and
 * register again at once after kill -9 of the server. Times are compared with those of as many concurrent raw
 * update-with-starts, by Temporal's own client on the same Temporal and worker: the mean of the runs right before and right
 * after the registrations.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { kill } from '../test/stack/cli-process.js';
import type { RpcAnswer } from '../test/support/mcp.js';
import { printTable, quantile, type Stack } from './support.js';

/** Time limit of unknown clients for a call, in milliseconds. */
const CLIENT_LIMIT_MS = 55_000;
/** Delay before a failed call is repeated, in milliseconds. */
const RETRY_DELAY_MS = 500;
/** Time between the start of the agents' waits and the first message, in milliseconds. */
const SETTLE_MS = 3_000;
/** Maximum ratio of the time of registrations to that of raw update-with-starts. */
const RATIO_BOUND = 1.5;

interface WaitAnswer {
  agent_id?: string;
  id?: string;
  m?: string;
}

/** Concurrent calls, each repeated until it succeeded. */
interface Storm {
  /** Time from the start to each call's success, in milliseconds. */
  tookMs: number[];
  /** Calls that failed, or took longer than {@link CLIENT_LIMIT_MS}. */
  failures: number;
}

/** Makes calls concurrently. */
async function allAtOnce(count: number, call: (index: number) => Promise<void>): Promise<Storm> {
  const storm: Storm = { tookMs: [], failures: 0 };
  const problems = new Set<string>();
  const startMs = Date.now();
  const callUntilDone = async (index: number) => {
    for (;;) {
      const fromMs = Date.now();
      try {
        await call(index);
        if (Date.now() - fromMs > CLIENT_LIMIT_MS) storm.failures += 1;
        storm.tookMs.push(Date.now() - startMs);
        return;
      } catch (error) {
        storm.failures += 1;
        problems.add((error as Error).message);
        await sleep(RETRY_DELAY_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => callUntilDone(index)));
  if (problems.size > 0) console.error(...problems);
  return storm;
}

const latestMs = ({ tookMs }: Storm) => Math.max(...tookMs);
const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export async function storm(
  { home, client, taskQueue, temporalAddress }: Stack,
  count: number,
): Promise<void> {
  const plain = client.with({});
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const temporal = new Client({ connection });
  const call = async <T>(name: string, args: object): Promise<T> => {
    const answer: RpcAnswer = await plain.request('tools/call', { name, arguments: args });
    const { isError, content } = answer.result as { isError?: boolean; content: { text: string }[] };
    if (isError) throw new Error(`${name}: ${content[0]!.text.split('\n')[0]}`);
    return JSON.parse(content[0]!.text) as T;
  };
  const check = (holds: boolean, why: string) => {
    if (holds) return;
    console.error(`NOT: ${why}`);
    process.exitCode = 1;
  };

  const raw = async () => {
    const workflowIds = Array.from({ length: count }, () => `raw-${randomUUID()}`);
    const result = await allAtOnce(count, async (index) => {
      const startWorkflowOperation = new WithStartWorkflowOperation('updatable', {
        workflowId: workflowIds[index]!,
        taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await temporal.workflow.executeUpdateWithStart('echo', { args: [index], startWorkflowOperation });
    });
    // Otherwise they could evict agents from the worker's cache.
    for (const id of workflowIds) await temporal.workflow.getHandle(id).terminate();
    return result;
  };

  const ids: string[] = [];
  const register = () =>
    allAtOnce(count, async (index) => {
      const { agent_id } = await call<WaitAnswer>('register_and_wait', {
        agent_name: `agent-${index}`,
        agent_type: 'bench',
        timeout_seconds: 0.01,
      });
      ids[index] = agent_id!;
    });
  const checkRegistered = async (what: string, { failures }: Storm) => {
    check(failures === 0, `${failures} calls failed: ${what}`);
    const { agents } = await call<{ agents: { name: string }[] }>('check_status', { limit: 500 });
    const names = new Set(agents.map(({ name }) => name));
    check(agents.length === count && names.size === count, `${agents.length} agents are listed: ${what}`);
  };

  /** Agents and IDs of received messages: a message whose acknowledgment was lost is delivered again. */
  const had = new Set<string>();
  /** Makes every agent wait, sends, and makes each acknowledge its message. */
  const deliver = async (send: () => Promise<Storm>, contentOf: (index: number) => string) => {
    const atMs: number[] = [];
    const taken = Promise.all(
      ids.map(async (agent_id, index) => {
        let ack: { ack?: string } = {};
        for (;;) {
          const wait = { agent_id, timeout_seconds: 50, ...ack };
          const { id, m } = await call<WaitAnswer>('wait', wait).catch((): WaitAnswer => ({}));
          if (id !== undefined) ack = { ack: id };
          if (id === undefined || had.has(`${index} ${id}`)) continue;
          atMs.push(Date.now());
          had.add(`${index} ${id}`);
          check(m === contentOf(index), `agent ${index} got ${m}`);
          const done = { agent_id, ...ack, timeout_seconds: 0.01 };
          await allAtOnce(1, async () => void (await call('wait', done)));
          return;
        }
      }),
    );
    await sleep(SETTLE_MS);
    const startMs = Date.now();
    const sent = await send();
    await taken;
    const delivered: Storm = { tookMs: atMs.map((at) => at - startMs), failures: 0 };
    return { sent, delivered };
  };

  // The first workflows of a new worker take longer.
  for (let index = 0; index < 20; index += 1)
    await temporal.workflow.execute('noop', { workflowId: randomUUID(), taskQueue });
  const before = await raw();
  const registered = await register();
  const after = await raw();
  const baseMs = (latestMs(before) + latestMs(after)) / 2;
  await checkRegistered('registering', registered);
  check(
    latestMs(registered) <= baseMs * RATIO_BOUND,
    `registering takes at most ${RATIO_BOUND} times as long as raw update-with-starts`,
  );
  const each = await deliver(
    () =>
      allAtOnce(count, (index) =>
        call('send_message', {
          to: `agent-${index}`,
          content: `to ${index}`,
          idempotency_key: `each-${index}`,
        }),
      ),
    (index) => `to ${index}`,
  );
  const toAll = await deliver(
    () =>
      allAtOnce(1, async () => {
        const message = { type: 'bench', who: 'all', content: 'to all', idempotency_key: 'all' };
        const { to } = await call<{ to: string[] }>('send_message', message);
        check(to.length === count, `the message for all was sent to ${to.length}`);
      }),
    () => 'to all',
  );
  kill(home.parts().server);
  while (await home.isReady()) await sleep(50);
  while (!(await home.isReady())) await sleep(50);
  const again = await register();
  await checkRegistered('registering again', again);

  const storms: [string, Storm][] = [
    ['raw update-with-starts, before', before],
    ['raw update-with-starts, after', after],
    ['register', registered],
    ['register again after kill -9 of the server', again],
    ['send_message to each, at once', each.sent],
    ['... until it was delivered', each.delivered],
    ['one send_message to all of them', toAll.sent],
    ['... until it was delivered', toAll.delivered],
  ];
  printTable(
    [`${count} agents`, 'p50', 'latest', 'ratio', 'calls that failed'],
    storms.map(([what, one]) => [
      what,
      inSeconds(quantile(one.tookMs, 0.5)),
      inSeconds(latestMs(one)),
      (latestMs(one) / baseMs).toFixed(2),
      `${one.failures}`,
    ]),
  );
  await connection.close();
}

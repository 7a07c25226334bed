/**
 * Storms: as many agents as given register at once, get a message each at once, get one that is for all of them, and
 * register again at once after kill -9 of the server. Every time is compared with as many raw update-with-starts by
 * Temporal's own client, on the same Temporal and worker, right before.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { kill } from '../test/stack/cli-process.js';
import type { RpcAnswer } from '../test/support/mcp.js';
import { printTable, quantile, type Stack } from './support.js';

/** Time-out of clients of which nothing more is known, in milliseconds. */
const CLIENT_LIMIT_MS = 55_000;
/** Pause before a call that failed is made again, in milliseconds. */
const AGAIN_MS = 500;
const RATIO_BOUND = 1.5;

interface WaitAnswer {
  agent_id?: string;
  id?: string;
  m?: string;
}

/** One storm: each call until it succeeded. */
interface Storm {
  seconds: number;
  /** Of the calls, with their repeats, in milliseconds. */
  tookMs: number[];
  /** Calls that failed or took longer than a client waits. */
  failures: number;
  problems: Set<string>;
}

export async function storm(
  { home, client, taskQueue, temporalAddress }: Stack,
  count: number,
): Promise<void> {
  const plain = client.with({});
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const temporal = new Client({ connection });

  const call = async <T>(name: string, args: object): Promise<T> => {
    const answer: RpcAnswer = await plain.request('tools/call', { name, arguments: args });
    if (!answer.result) throw new Error(`${name}: ${JSON.stringify(answer.error)}`);
    const { isError, content } = answer.result as { isError?: boolean; content: { text: string }[] };
    if (isError) throw new Error(`${name}: ${content[0]!.text.split('\n')[0]}`);
    return JSON.parse(content[0]!.text) as T;
  };

  const all = async (work: (index: number) => Promise<void>): Promise<Storm> => {
    const result: Storm = { seconds: 0, tookMs: [], failures: 0, problems: new Set() };
    const start = Date.now();
    const one = async (index: number) => {
      const from = Date.now();
      for (;;) {
        const callFrom = Date.now();
        try {
          await work(index);
          if (Date.now() - callFrom > CLIENT_LIMIT_MS) result.failures += 1;
          break;
        } catch (error) {
          result.failures += 1;
          result.problems.add((error as Error).message);
          await sleep(AGAIN_MS);
        }
      }
      result.tookMs.push(Date.now() - from);
    };
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
    result.seconds = (Date.now() - start) / 1000;
    return result;
  };

  const raw = () =>
    all(async (index) => {
      const startWorkflowOperation = new WithStartWorkflowOperation('updatable', {
        workflowId: `raw-${index}-${randomUUID()}`,
        taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await temporal.workflow.executeUpdateWithStart('echo', { args: [index], startWorkflowOperation });
    });

  const rows: string[][] = [];
  const row = (what: string, { seconds, tookMs, failures, problems }: Storm, base?: Storm) => {
    const ratio = base && seconds / base.seconds;
    const spread = `${(quantile(tookMs, 0.5) / 1000).toFixed(1)}, ${(quantile(tookMs, 1) / 1000).toFixed(1)} s`;
    rows.push([what, `${seconds.toFixed(1)} s`, spread, ratio?.toFixed(2) ?? '', `${failures}`]);
    console.error(rows.at(-1)!.join(' | '), ...problems);
  };
  const fail = (why: string) => {
    console.error(`NOT: ${why}`);
    process.exitCode = 1;
  };

  // The first workflows of a new worker take longer.
  await Promise.all(
    Array.from({ length: 20 }, () =>
      temporal.workflow.execute('noop', { workflowId: randomUUID(), taskQueue }),
    ),
  );
  const base = await raw();
  row(`${count} raw update-with-starts`, base);

  const ids: string[] = [];
  const register = (index: number) =>
    call<WaitAnswer>('register_and_wait', {
      agent_name: `agent-${index}`,
      agent_type: 'bench',
      timeout_seconds: 0.01,
    }).then(({ agent_id }) => void (ids[index] = agent_id!));
  const isFirstComplete = async () => {
    const { agents } = await call<{ agents: { name: string }[] }>('check_status', {});
    const names = agents.map(({ name }) => name);
    if (names.length !== count || new Set(names).size !== count)
      fail(`${names.length} agents are listed, ${new Set(names).size} different ones`);
  };
  const registered = await all(register);
  row(`${count} register`, registered, base);
  await isFirstComplete();
  if (registered.failures > 0) fail('registrations failed');
  if (registered.seconds > base.seconds * RATIO_BOUND)
    fail(`they took over ${RATIO_BOUND} times as long as raw update-with-starts`);

  /** Every agent waits until it has a message, and takes it as done. */
  const gather = async () => {
    const got = new Map<number, string>();
    const late: number[] = [];
    const done = Promise.all(
      ids.map(async (agent_id, index) => {
        let ack: string | undefined;
        for (;;) {
          const more = { timeout_seconds: ack ? 0.01 : 50, ...(ack ? { ack } : {}) };
          const answer = await call<WaitAnswer>('wait', { agent_id, ...more }).catch(() => undefined);
          if (answer && ack) return;
          if (!answer?.m) continue;
          got.set(index, answer.m);
          late.push(Date.now());
          ack = answer.id;
        }
      }),
    );
    await sleep(3_000);
    return { got, done, late };
  };

  {
    const { got, done, late } = await gather();
    const start = Date.now();
    const sent = await all(async (index) => {
      await call('send_message', {
        to: `agent-${index}`,
        from: 'sender',
        content: `to ${index}`,
        idempotency_key: `each-${index}`,
      });
    });
    row(`${count} messages, each to another`, sent, base);
    await done;
    const delivered = {
      ...sent,
      seconds: (Math.max(...late) - start) / 1000,
      tookMs: late.map((at) => at - start),
    };
    row('until the last was delivered', delivered, base);
    for (const [index, content] of got) if (content !== `to ${index}`) fail(`${index} got ${content}`);
  }
  {
    const { got, done, late } = await gather();
    const start = Date.now();
    const sent = await (async () => {
      for (let failures = 0; ; failures += 1)
        try {
          const from = Date.now();
          const { to } = await call<{ to?: string[] }>('send_message', {
            type: 'bench',
            who: 'all',
            from: 'sender',
            content: 'to all',
            idempotency_key: 'all',
          });
          if (to && to.length !== count) fail(`it was sent to ${to.length}`);
          if (Date.now() - from > CLIENT_LIMIT_MS) failures += 1;
          return { failures };
        } catch (error) {
          console.error(error);
          await sleep(AGAIN_MS);
        }
    })();
    const took = (Date.now() - start) / 1000;
    row(
      'one message to all of them',
      { seconds: took, tookMs: [took * 1000], problems: new Set(), ...sent },
      base,
    );
    await done;
    const tookMs = late.map((at) => at - start);
    row(
      'until the last had it',
      { seconds: Math.max(...tookMs) / 1000, tookMs, failures: 0, problems: new Set() },
      base,
    );
    if (got.size !== count) fail(`${got.size} got it`);
  }

  kill(home.parts().server);
  await sleep(200);
  while (!(await home.isReady())) await sleep(50);
  const again = await all(register);
  row(`${count} register again after kill -9 of the server`, again, base);
  if (again.failures > 0) fail('registrations failed');
  await isFirstComplete();
  const after = await raw();
  row(`${count} raw update-with-starts once more`, after);

  printTable(['', 'all done', 'p50, latest', 'ratio', 'calls that failed'], rows);
  await connection.close();
}

/**
 * Delay with which waiting clients get their answer. 500 clients each start an operation and wait for its end in one call, half
 * of them with a progress token; then all operations are signaled to end, as fast as the stack closes them.
 *
 *     node --import jiti/register bench/waiters.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { RpcAnswer } from '../test/support/mcp.js';
import { cpuMs, measure, peakMb, printTable, withStack } from './support.js';

const WAITERS = 500;
/** Interval between two clients, in milliseconds. */
const ARRIVAL_INTERVAL_MS = 30;
/** Idle time of the waiting clients, in milliseconds: a few long polls and ticks. */
const WAIT_MS = 45_000;
/** Maximum number of operations that have been signaled to end and whose clients have not received the result. */
const MAX_ENDING = 16;
const LATE_BOUND_MS = 1_000;
const MEMORY_BOUND_MB = 400;

interface Answer {
  token: string;
  atMs: number;
}

interface CallResult {
  _meta?: { 'longhaul/error'?: { retryable: boolean } };
  structuredContent?: { token: string; status: string };
}

await withStack(async ({ client, serverPid, taskQueue, temporalAddress }) => {
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const temporal = new Client({ connection });
  const plain = client.with({});
  /** Starts an operation and waits for its end. The key makes a repeated call continue with the same operation. */
  const wait = async (index: number): Promise<Answer> => {
    const answer: RpcAnswer = await plain.request('tools/call', {
      name: 'await_signal',
      arguments: { wait: true, timeout: 300, idempotency_key: `waiter-${index}` },
      _meta: index % 2 === 0 ? { progressToken: index } : {},
    });
    const atMs = Date.now();
    const { _meta: meta, structuredContent } = (answer.result ?? {}) as CallResult;
    if (meta?.['longhaul/error']?.retryable) return wait(index);
    const { token, status } = structuredContent ?? {};
    if (!token || status !== 'completed') throw new Error(`not completed: ${JSON.stringify(answer)}`);
    return { token, atMs };
  };
  const open = async () => {
    const found = temporal.workflow.list({
      query: `TaskQueue = '${taskQueue}' AND WorkflowType = 'await_signal' AND ExecutionStatus = 'Running'`,
    });
    const ids: string[] = [];
    for await (const { workflowId } of found) ids.push(workflowId);
    return ids;
  };
  const events = async (ids: string[]) => {
    let sum = 0;
    await measure(ids.length, 16, serverPid, async (index) => {
      const { historyLength } = await temporal.workflow.getHandle(ids[index]!).describe();
      sum += historyLength;
    });
    return sum;
  };

  const waiting: Promise<Answer>[] = [];
  let answered = 0;
  for (let index = 0; index < WAITERS; index += 1) {
    waiting.push(wait(index).finally(() => (answered += 1)));
    await Promise.race([sleep(ARRIVAL_INTERVAL_MS), waiting[index]]);
  }
  const all = Promise.all(waiting);
  let ids: string[] = [];
  while (ids.length < WAITERS) {
    await Promise.race([sleep(1_000), all]);
    ids = await open();
    console.error(`${ids.length} operations run`);
  }
  // First workflow tasks still write events; wait until the sum is stable.
  let before = await events(ids);
  for (let settled = false; !settled;) {
    await sleep(2_000);
    const now = await events(ids);
    settled = now === before;
    before = now;
  }
  const cpu = cpuMs(serverPid);
  await sleep(WAIT_MS);
  const share = (cpuMs(serverPid) - cpu) / WAIT_MS;
  const after = await events(ids);

  const from = Date.now();
  for (const [index, id] of ids.entries()) {
    await temporal.workflow.getHandle(id).signal('end');
    while (index + 1 - answered >= MAX_ENDING) await sleep(5);
  }
  const answers = await all;
  const seconds = (Date.now() - from) / 1000;
  const late: number[] = [];
  await measure(WAITERS, 16, serverPid, async (index) => {
    const { token, atMs } = answers[index]!;
    const { closeTime } = await temporal.workflow.getHandle(token).describe();
    late.push(atMs - closeTime!.getTime());
  });
  late.sort((one, other) => one - other);
  const at = (part: number) => late[Math.min(WAITERS - 1, Math.floor(WAITERS * part))]!;
  const memory = peakMb(serverPid);
  const verdict = (holds: boolean, bound: string) => {
    if (!holds) process.exitCode = 1;
    return holds ? bound : `NOT ${bound}`;
  };
  printTable(
    [`${WAITERS} waiters, all answered within ${seconds.toFixed(0)} s`, '', 'bound'],
    [
      ['answered after the close, p50', `${at(0.5)} ms`, ''],
      ['answered after the close, p99', `${at(0.99)} ms`, ''],
      [
        'answered after the close, latest',
        `${at(1)} ms`,
        verdict(at(1) < LATE_BOUND_MS, `under ${LATE_BOUND_MS} ms`),
      ],
      [
        "server's resident set at its highest",
        `${memory.toFixed(0)} MB`,
        verdict(memory < MEMORY_BOUND_MB, `under ${MEMORY_BOUND_MB} MB`),
      ],
      [
        `history events, ${WAIT_MS / 1000} s apart`,
        `${before} and ${after}`,
        verdict(before === after, 'the same'),
      ],
      ["server's CPU while they wait", `${Math.round(share * 100)} % of a core`, ''],
    ],
  );
  await connection.close();
});

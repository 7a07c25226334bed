/**
 * How late do those who wait hear of it? 500 clients each start an operation and wait for its end in one call, half of
 * them with a progress token; then all operations are signaled to end, as fast as the stack closes them.
 *
 *     node --import jiti/register bench/waiters.ts
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { RpcAnswer } from '../test/support/mcp.js';
import { cpuMs, measure, peakMb, printTable, withStack } from './support.js';

const WAITERS = 500;
/** How long after one the next client comes, in milliseconds. */
const APART_MS = 30;
/** How long they wait before anything happens, in milliseconds: through a few long polls and ticks. */
const WAIT_MS = 45_000;
/** Maximum number of operations that have been signaled to end and whose clients have not received the result. */
const ENDING = 16;
const LATE_BOUND_MS = 1_000;
const MEMORY_BOUND_MB = 400;

interface Told {
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
  /** Starts an operation and waits for its end. The key makes a repeated call go on with the same operation. */
  const wait = async (index: number): Promise<Told> => {
    const answer: RpcAnswer = await plain.request('tools/call', {
      name: 'told',
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
      query: `TaskQueue = '${taskQueue}' AND WorkflowType = 'told' AND ExecutionStatus = 'Running'`,
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

  const waiting: Promise<Told>[] = [];
  let heard = 0;
  for (let index = 0; index < WAITERS; index += 1) {
    waiting.push(wait(index).finally(() => (heard += 1)));
    await Promise.race([sleep(APART_MS), waiting[index]]);
  }
  const all = Promise.all(waiting);
  let ids: string[] = [];
  while (ids.length < WAITERS) {
    await Promise.race([sleep(1_000), all]);
    ids = await open();
    console.error(`${ids.length} operations run`);
  }
  // Each starts with a workflow task.
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
    while (index + 1 - heard >= ENDING) await sleep(5);
  }
  const told = await all;
  const seconds = (Date.now() - from) / 1000;
  const late: number[] = [];
  await measure(WAITERS, 16, serverPid, async (index) => {
    const { token, atMs } = told[index]!;
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
    [`${WAITERS} waiters, all told within ${seconds.toFixed(0)} s`, '', 'bound'],
    [
      ['told after the close, p50', `${at(0.5)} ms`, ''],
      ['told after the close, p99', `${at(0.99)} ms`, ''],
      [
        'told after the close, latest',
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

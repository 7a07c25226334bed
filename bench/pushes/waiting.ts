/** Clients that wait: many that are answered at once, and the memory and CPU of many that only wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { RpcAnswer } from '../../test/support/mcp.js';
import { cpuMs, idsOf, residentMb, timeRuns, untilCount, type Stack } from '../support.js';

/** Time over which waiting processes are measured, in milliseconds: a few long polls and ticks. */
const WAIT_MS = 45_000;
/** Interval between two clients that begin to wait, in milliseconds. */
const ARRIVAL_INTERVAL_MS = 30;

interface CallResult {
  _meta?: { 'longhaul/error'?: { retryable: boolean } };
  structuredContent?: { token: string; status: string };
}

/** Starts as many operations as there are clients, each of which waits for the end within one call. */
export async function startWaiters(
  { client }: Stack,
  count: number,
  round: string,
): Promise<Promise<unknown>[]> {
  const plain = client.with({});
  const wait = async (index: number): Promise<void> => {
    const answer: RpcAnswer = await plain.request('tools/call', {
      name: 'await_signal',
      arguments: { wait: true, timeout: 300, idempotency_key: `${round}-${index}` },
      _meta: index % 2 === 0 ? { progressToken: index } : {},
    });
    const { _meta: meta, structuredContent } = (answer.result ?? {}) as CallResult;
    const isOpen = meta?.['longhaul/error']?.retryable || structuredContent?.status === 'running';
    if (isOpen) return wait(index);
    if (structuredContent?.status !== 'completed')
      throw new Error(`not completed: ${JSON.stringify(answer)}`);
  };
  const waiting: Promise<unknown>[] = [];
  for (let index = 0; index < count; index++) {
    waiting.push(wait(index));
    await Promise.race([sleep(ARRIVAL_INTERVAL_MS), waiting[index]]);
  }
  return waiting;
}

/** IDs of the open `await_signal`, once there are as many. */
export async function openWaits(temporal: Client, count: number): Promise<string[]> {
  const query = "WorkflowType = 'await_signal' AND ExecutionStatus = 'Running'";
  await untilCount(temporal, query, count);
  return idsOf(temporal, query);
}

/** Signals all at once. @returns time until the last waiter has its answer, in milliseconds */
export async function endAll(temporal: Client, ids: string[], waiting: Promise<unknown>[]): Promise<number> {
  const start = performance.now();
  const [, toldMs] = await Promise.all([
    Promise.all(ids.map((id) => temporal.workflow.getHandle(id).signal('end'))),
    Promise.all(waiting).then(() => performance.now() - start),
  ]);
  return toldMs;
}

/** Ends operations a few at a time. */
export async function endGently(temporal: Client, ids: string[]): Promise<void> {
  await timeRuns(ids.length, 8, async (index) => {
    await temporal.workflow.getHandle(ids[index]!).signal('end');
    await sleep(100);
  });
}

export interface Waiting {
  name: string;
  /** Resident memory of each process, in MB. */
  memoryMb: Record<string, number>;
  /** Share of a core of each process. */
  cpuShare: Record<string, number>;
}

/** Memory and CPU of the stack's processes while clients wait. */
export async function whileWaiting({ home }: Stack, name: string, waitMs = WAIT_MS): Promise<Waiting> {
  const pids = Object.entries(home.parts());
  const before = pids.map(([, pid]) => cpuMs(pid));
  await sleep(waitMs);
  const of = (value: (pid: number, index: number) => number) =>
    Object.fromEntries(pids.map(([part, pid], index) => [part, value(pid, index)]));
  return {
    name,
    cpuShare: of((pid, index) => (cpuMs(pid) - before[index]!) / waitMs),
    memoryMb: of((pid) => Math.round(residentMb(pid))),
  };
}

/** Sum of the lengths of histories, once it no longer grows. */
export async function settledEvents(temporal: Client, ids: string[]): Promise<number> {
  const sum = async () => {
    let events = 0;
    await timeRuns(ids.length, 16, async (index) => {
      const { historyLength } = await temporal.workflow.getHandle(ids[index]!).describe();
      events += historyLength;
    });
    return events;
  };
  let last = await sum();
  for (;;) {
    await sleep(2_000);
    const now = await sum();
    if (now === last) return now;
    last = now;
  }
}

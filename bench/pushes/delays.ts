/** Delays between a change of a workflow, by the time of its event in history, and what a client receives of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import type { Client } from '@temporalio/client';
import { quantile, untilCount } from '../support.js';
import { textOf, type Channel, type OnText } from './channels.js';

const { EventType } = proto.temporal.api.enums.v1;
/** Events by which a change becomes visible. */
const CHANGES: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
]);
/** Operations that take turns: a protocol may limit the notifications of one operation to one a second. */
const OPERATIONS = 32;
/** Shortest time between two changes, in milliseconds. */
const INTERVAL_MS = 50;
const ARRIVAL_LIMIT_MS = 30_000;

export interface Delays {
  name: string;
  count: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Arrivals of marked texts. */
export class Arrivals {
  readonly #atMs = new Map<string, number>();
  #awaited: { marks: string[]; name: string; arrived: () => void } | undefined;

  readonly onText: OnText = (text) => {
    const awaited = this.#awaited;
    if (!awaited || !awaited.marks.every((mark) => text.includes(mark))) return;
    this.#awaited = undefined;
    this.#atMs.set(awaited.name, Date.now());
    awaited.arrived();
  };

  /** Makes a change, and waits for the text that has all of its marks. */
  async expect(name: string, marks: string[], change: () => Promise<unknown>): Promise<void> {
    const arrival = new Promise<void>((arrived) => (this.#awaited = { marks, name, arrived }));
    await change();
    const limit = new AbortController();
    const late = sleep(ARRIVAL_LIMIT_MS, true, { signal: limit.signal }).catch(() => false);
    if (await Promise.race([arrival.then(() => false), late])) throw new Error(`${name} did not arrive`);
    limit.abort();
  }

  /** Delays of all arrivals, by the times of the events that have their names. */
  async delays(name: string, temporal: Client, workflowIds: Iterable<string>): Promise<Delays> {
    const delays: number[] = [];
    for (const id of new Set(workflowIds)) {
      const { events } = await temporal.workflow.getHandle(id).fetchHistory();
      for (const event of events ?? []) {
        const [mark] = CHANGES.has(event.eventType as number) ? (/tick-\d+-/.exec(textOf(event)) ?? []) : [];
        const atMs = mark === undefined ? undefined : this.#atMs.get(mark);
        if (atMs === undefined) continue;
        const { seconds, nanos } = event.eventTime!;
        delays.push(atMs - (Number(seconds) * 1000 + (nanos ?? 0) / 1e6));
        this.#atMs.delete(mark!);
      }
    }
    if (this.#atMs.size > 0) throw new Error(`${name}: ${this.#atMs.size} changes are not in history`);
    return {
      name,
      count: delays.length,
      p50Ms: quantile(delays, 0.5),
      p99Ms: quantile(delays, 0.99),
      maxMs: quantile(delays, 1),
    };
  }
}

/** Calls `change` with 0, 1, 2 ..., one after another, at most every 50 ms. */
export async function paced(count: number, change: (number: number) => Promise<void>): Promise<void> {
  for (let number = 0; number < count; number++) {
    const next = sleep(INTERVAL_MS);
    await change(number);
    await next;
  }
}

/** Delays of a channel's notifications of changes, or of ends. */
export async function channelDelays(
  kind: 'change' | 'end',
  count: number,
  temporal: Client,
  open: (onText: OnText) => Channel | Promise<Channel>,
): Promise<Delays> {
  const arrivals = new Arrivals();
  const channel = await open(arrivals.onText);
  const all: string[] = [];
  const waiting: string[] = [];
  const startOne = async () => {
    const token = await channel.start();
    all.push(token);
    waiting.push(token);
  };
  try {
    for (let one = 0; one < Math.min(OPERATIONS, count); one++) await startOne();
    await sleep(3_000);
    await paced(count, async (number) => {
      const token = waiting.shift()!;
      const mark = `tick-${number}-`;
      const marks = kind === 'end' ? (channel.endMark?.(token, mark) ?? [mark]) : [mark];
      const signal = kind === 'end' ? 'end' : 'tick';
      await arrivals.expect(mark, marks, () => temporal.workflow.getHandle(token).signal(signal, mark));
      if (kind === 'change') waiting.push(token);
      else if (all.length < count) await startOne();
    });
    return await arrivals.delays(`${channel.name}: ${kind}`, temporal, all);
  } finally {
    await channel.close();
    const end = async (token: string) => temporal.workflow.getHandle(token).signal('end', 'over');
    await Promise.all(waiting.map((token) => end(token).catch(() => undefined)));
    await untilCount(temporal, "WorkflowType = 'ticker' AND ExecutionStatus = 'Running'", 0);
  }
}

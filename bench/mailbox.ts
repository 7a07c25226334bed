/**
 * Cost of a hundred waiting agents, and delay of messages to them, through the HTTP tools that agents use: the agents wait
 * idle, then senders send to random ones. Before that, the behaviour with a poison message, at which its agent fails every time,
 * and with a child that disconnects.
 *
 *     node --import jiti/register bench/mailbox.ts [--agents 100] [--minutes 1] [--messages 1000] [--per-second 10] [--kills]
 *         [--only-failures]
 *     node --import jiti/register bench/mailbox.ts --storm 500
 *
 * The bounds are those for a hundred agents. With --kills the server is killed (-9) every 20 s while messages are sent, and
 * Temporal once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { kill } from '../test/stack/cli-process.js';
import type { RpcAnswer } from '../test/support/mcp.js';
import { leaverRows, poisonRows } from './mailbox-failures.js';
import { storm } from './mailbox-storm.js';
import { cpuMs, measure, peakMb, printTable, residentMb, withStack } from './support.js';

const { values: given } = parseArgs({
  options: {
    agents: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '1' },
    messages: { type: 'string', default: '1000' },
    'per-second': { type: 'string', default: '10' },
    kills: { type: 'boolean', default: false },
    'only-failures': { type: 'boolean', default: false },
    storm: { type: 'string' },
  },
});
const AGENTS = Number(given.agents);
const IDLE_MS = Number(given.minutes) * 60_000;
const MESSAGES = Number(given.messages);
const PER_SECOND = Number(given['per-second']);
const SENDERS = 10;
const KILL_EVERY_MS = 20_000;
/** Delay before a failed call is repeated, in milliseconds. */
const RETRY_DELAY_MS = 100;
/** Time limit for the last messages to be delivered, in milliseconds. */
const DELIVERY_LIMIT_MS = 120_000;
const EVENTS_BOUND = 1;
const MEMORY_BOUND_MB = 250;
const CPU_BOUND = 0.03;
const LATE_BOUND_MS = 1_000;

/** A message's content. */
interface Numbered {
  sender: number;
  to: number;
  number: number;
  sentAt: number;
}

interface WaitAnswer {
  agent_id?: string;
  nw?: true;
  id?: string;
  m?: string;
  again?: 1;
  gone?: true;
}

await withStack(
  async (stack) => {
    if (given.storm !== undefined) return storm(stack, Number(given.storm));
    const { home, client, serverPid, taskQueue, temporalAddress } = stack;
    const plain = client.with({});
    const stop = new AbortController();
    let failures = 0;
    let isQuiet = true;
    /** Calls a tool until it answers: a call that was lost with a process is repeated, as agents do. */
    const callUntilAnswered = async <T>(name: string, args: object): Promise<T> => {
      for (;;) {
        try {
          const answer: RpcAnswer = await plain.request('tools/call', { name, arguments: args });
          const { isError, content } = answer.result as { isError?: boolean; content: { text: string }[] };
          if (!isError) return JSON.parse(content[0]!.text) as T;
          if (isQuiet) console.error(`${name}: ${content[0]!.text}`);
        } catch (error) {
          if (stop.signal.aborted) throw error;
        }
        failures += 1;
        await sleep(RETRY_DELAY_MS);
      }
    };

    /** Sender, recipient and number -> delay of the delivery, in milliseconds. */
    const effects = new Map<string, number>();
    let doubles = 0;
    let repeats = 0;
    let outOfOrder = 0;
    const runAgent = async (index: number) => {
      const name = `agent-${index}`;
      const registered = await callUntilAnswered<WaitAnswer>('register_and_wait', {
        agent_name: name,
        agent_type: 'bench',
        timeout_seconds: 1,
      });
      const agent_id = registered.agent_id!;
      const seen = new Set<string>();
      const latest = new Map<number, number>();
      let answer = registered;
      while (!stop.signal.aborted) {
        if (answer.gone) throw new Error(`${name} is gone`);
        const { id, m } = answer;
        if (id !== undefined && m !== undefined) {
          const { sender, to, number, sentAt } = JSON.parse(m) as Numbered;
          if (seen.has(id)) repeats += 1;
          else {
            const effect = `${sender} ${to} ${number}`;
            if (effects.has(effect) || to !== index) doubles += 1;
            if ((latest.get(sender) ?? -1) >= number) outOfOrder += 1;
            latest.set(sender, number);
            effects.set(effect, Date.now() - sentAt);
            seen.add(id);
          }
        }
        answer = await callUntilAnswered<WaitAnswer>('wait', {
          agent_id,
          ...(id === undefined ? {} : { ack: id }),
        });
      }
    };
    const connection = await NativeConnection.connect({ address: temporalAddress });
    const temporal = new Client({ connection });
    const failing = await poisonRows(callUntilAnswered);
    failing.push(
      ...(await leaverRows(callUntilAnswered, plain, (name) => eventsOf(temporal, taskQueue, name))),
    );
    printTable(['agents that fail', ''], failing);
    console.log();
    if (given['only-failures']) {
      stop.abort();
      await connection.close();
      return;
    }

    const agents = Promise.all(Array.from({ length: AGENTS }, (_, index) => runAgent(index)));
    agents.catch((error: unknown) => {
      if (stop.signal.aborted) return;
      console.error(error);
      process.exitCode = 1;
    });

    let ids: string[] = [];
    while (ids.length < AGENTS) {
      await sleep(1_000);
      ids = (await inboxes(temporal, taskQueue)).filter((id) => /:agent-[0-9]+$/.test(id));
      console.error(`${ids.length} agents are registered`);
    }
    const events = async () => {
      let sum = 0;
      await measure(ids.length, 8, serverPid, async (index) => {
        // DescribeWorkflowExecution also counts events that aren't written yet.
        const { history } = await temporal.workflowService.getWorkflowExecutionHistoryReverse({
          namespace: 'default',
          execution: { workflowId: ids[index]! },
          maximumPageSize: 1,
        });
        sum += Number(history?.events?.[0]?.eventId);
      });
      return sum;
    };
    // Registrations still write events; wait until the sum is stable.
    let before = await events();
    for (let settled = false; !settled;) {
      await sleep(5_000);
      const now = await events();
      settled = now === before;
      before = now;
    }
    const cpu = cpuMs(serverPid);
    const from = Date.now();
    await sleep(IDLE_MS);
    const share = (cpuMs(serverPid) - cpu) / (Date.now() - from);
    const written = ((await events()) - before) / AGENTS;
    const memory = residentMb(serverPid);
    const peak = peakMb(serverPid);
    console.error(`waited: ${failures} calls failed`);
    isQuiet = !given.kills;

    let restarts = 0;
    let isSending = true;
    const killing = (async () => {
      while (given.kills) {
        await sleep(KILL_EVERY_MS);
        if (!isSending) return;
        kill(home.parts().server);
        restarts += 1;
        if (restarts === 3) kill(home.parts().temporal);
      }
    })();
    const sendTookMs: number[] = [];
    const sendAll = async (sender: number) => {
      const begin = Date.now() + (sender * 1000) / PER_SECOND;
      for (let number = 0; number < MESSAGES / SENDERS; number += 1) {
        const at = begin + (number * SENDERS * 1000) / PER_SECOND;
        await sleep(Math.max(0, at - Date.now()));
        const to = Math.floor(Math.random() * AGENTS);
        const content: Numbered = { sender, to, number, sentAt: Date.now() };
        await callUntilAnswered('send_message', {
          to: `agent-${to}`,
          from: `sender-${sender}`,
          content: JSON.stringify(content),
          idempotency_key: `${sender}-${number}`,
        });
        sendTookMs.push(Date.now() - content.sentAt);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, (_, sender) => sendAll(sender)));
    const deadline = Date.now() + DELIVERY_LIMIT_MS;
    while (effects.size < MESSAGES && Date.now() < deadline) await sleep(100);
    isSending = false;
    await killing;
    // Time for duplicates to arrive.
    await sleep(3_000);
    stop.abort();

    const late = [...effects.values()].sort((one, other) => one - other);
    const at = (list: number[], part: number) =>
      list[Math.min(list.length - 1, Math.floor(list.length * part))] ?? NaN;
    sendTookMs.sort((one, other) => one - other);
    const verdict = (holds: boolean, bound: string) => {
      if (!holds) process.exitCode = 1;
      return holds ? bound : `NOT ${bound}`;
    };
    const lost = MESSAGES - effects.size;
    const waited = `${AGENTS} agents wait for ${given.minutes} min`;
    printTable(
      [waited, '', 'bound'],
      [
        [
          'history events written for each',
          written.toFixed(2),
          verdict(written <= EVENTS_BOUND, `at most ${EVENTS_BOUND}`),
        ],
        [
          "server's resident set, at its highest",
          `${memory.toFixed(0)} MB, ${peak.toFixed(0)} MB`,
          verdict(peak < MEMORY_BOUND_MB, `under ${MEMORY_BOUND_MB} MB`),
        ],
        [
          "server's CPU",
          `${(share * 100).toFixed(1)} % of a core`,
          verdict(share < CPU_BOUND, `under ${CPU_BOUND * 100} %`),
        ],
      ],
    );
    console.log();
    const how = given.kills ? `, the server killed ${restarts} times and Temporal once` : '';
    printTable(
      [`${MESSAGES} messages, ${PER_SECOND} a second${how}`, '', 'bound'],
      [
        ['send to delivery, p50', `${at(late, 0.5)} ms`, ''],
        [
          'send to delivery, p99',
          `${at(late, 0.99)} ms`,
          given.kills ? '' : verdict(at(late, 0.99) < LATE_BOUND_MS, `under ${LATE_BOUND_MS} ms`),
        ],
        ['send to delivery, latest', `${at(late, 1)} ms`, ''],
        ['send_message, p50', `${at(sendTookMs, 0.5)} ms`, ''],
        ['lost', `${lost}`, verdict(lost === 0, '0')],
        ['twice in effect', `${doubles}`, verdict(doubles === 0, '0')],
        ['given again, under the same ID', `${repeats}`, ''],
        ["out of a sender's order", `${outOfOrder}`, verdict(outOfOrder === 0, '0')],
        ['calls made again', `${failures}`, ''],
      ],
    );
    await connection.close();
  },
  { LONGHAUL_MAILBOX: '1' },
);

async function inboxes(temporal: Client, taskQueue: string): Promise<string[]> {
  const query = `TaskQueue = '${taskQueue}' AND WorkflowType = 'mailbox_inbox' AND ExecutionStatus = 'Running'`;
  const ids: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

async function eventsOf(temporal: Client, taskQueue: string, name: string): Promise<number> {
  const id = (await inboxes(temporal, taskQueue)).find((one) => one.endsWith(`:${name}`))!;
  return (await temporal.workflow.getHandle(id).describe()).historyLength;
}

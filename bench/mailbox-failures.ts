/** Failing agents: a poison message, at which its agent fails every time, and a child that disconnects without `bye`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireClient } from '../test/support/mcp.js';

/** Deliveries after which a poison message counts as delivered without end. */
const MAX_DELIVERIES = 30;
/** Time for which the status of a disconnected child is polled, in milliseconds. */
const MAX_ABSENCE_MS = 90_000;
const MESSAGES_BEHIND = 10;

type Call = <T>(name: string, args: object) => Promise<T>;

interface Taken {
  agent_id?: string;
  id?: string;
  m?: string;
}

/** An agent that fails at one message, restarts, and handles all others. @returns rows of a table */
export async function poisonRows(call: Call): Promise<string[][]> {
  const name = 'poisoned';
  const send = (content: string) => call<{ id: string }>('send_message', { to: name, content });
  const { id: poison } = await send('poison');
  const sentAt = Date.now();
  for (let count = 0; count < MESSAGES_BEHIND; count += 1) await send(`behind ${count}`);
  const register = () =>
    call<Taken>('register_and_wait', { agent_name: name, agent_type: 'bench', timeout_seconds: 2 });
  let answer = await register();
  let agentId = answer.agent_id!;
  let takes = 0;
  const behindMs: number[] = [];
  while (takes < MAX_DELIVERIES && behindMs.length < MESSAGES_BEHIND) {
    if (answer.id === poison) {
      takes += 1;
      answer = await register();
      agentId = answer.agent_id!;
      continue;
    }
    if (answer.m?.startsWith('behind ')) behindMs.push(Date.now() - sentAt);
    answer = await call<Taken>('wait', {
      agent_id: agentId,
      timeout_seconds: 2,
      ...(answer.id === undefined ? {} : { ack: answer.id }),
    });
  }
  const { state } = await call<{ state?: Record<string, string> }>('check_replies', { message_id: poison });
  return [
    ['deliveries of a poison message', takes < MAX_DELIVERIES ? `${takes}` : `${takes}, and no end`],
    ['its state then', state?.[name] ?? 'none'],
    ['messages behind it that were delivered', `${behindMs.length} of ${MESSAGES_BEHIND}`],
    [
      "from the poison's send to the first and last of these",
      behindMs.length ? `${behindMs[0]} ms, ${behindMs.at(-1)} ms` : '-',
    ],
  ];
}

/**
 * A child whose connection ends during a wait.
 *
 * @param eventsOf history events of an agent's inbox
 * @returns rows of a table
 */
export async function leaverRows(
  call: Call,
  client: WireClient,
  eventsOf: (name: string) => Promise<number>,
): Promise<string[][]> {
  const name = 'leaver';
  const { agent_id } = await call<Taken>('register_and_wait', {
    agent_name: name,
    agent_type: 'bench',
    timeout_seconds: 1,
  });
  const leaving = new AbortController();
  const params = { name: 'wait', arguments: { agent_id, timeout_seconds: 60 } };
  const waiting = fetch(client.url, {
    method: 'POST',
    headers: client.headers('tools/call', params),
    body: JSON.stringify(client.envelope('tools/call', params)),
    signal: leaving.signal,
  }).then((response) => response.text());
  waiting.catch(() => undefined);
  await sleep(2_000);
  const before = await eventsOf(name);
  leaving.abort();
  const leftAt = Date.now();
  const state = async () => {
    const { agents } = await call<{ agents: { name: string; state: string }[] }>('check_status', {});
    return agents.find((one) => one.name === name)!.state;
  };
  let seen = await state();
  while (seen === 'waiting' && Date.now() - leftAt < MAX_ABSENCE_MS) {
    await sleep(1_000);
    seen = await state();
  }
  const tookMs = Date.now() - leftAt;
  return [
    [
      'check_status no longer reports "waiting" after',
      seen === 'waiting'
        ? `never in ${MAX_ABSENCE_MS / 1000} s`
        : `${(tookMs / 1000).toFixed(0)} s: "${seen}"`,
    ],
    ['history events written for that', `${(await eventsOf(name)) - before}`],
  ];
}

/** Agents of the mailbox that wait, each in a call of `wait`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { RpcAnswer, WireClient } from '../../test/support/mcp.js';
import { idsOf, timeRuns } from '../support.js';
import type { OnText } from './channels.js';

const RETRY_DELAY_MS = 100;
const REGISTRATIONS_AT_ONCE = 16;

interface WaitAnswer {
  agent_id: string;
  id?: string;
}

export interface Agents {
  send(agent: number, content: string): Promise<void>;
  /** Workflow IDs of their inboxes. */
  inboxes(): Promise<string[]>;
  stop(): void;
}

/** Registers agents, which wait until they are stopped. */
export async function startAgents(
  client: WireClient,
  temporal: Client,
  count: number,
  onText: OnText,
): Promise<Agents> {
  const plain = client.with({});
  let isStopped = false;
  const callUntilAnswered = async (name: string, args: object): Promise<string> => {
    for (;;) {
      const answer: RpcAnswer = await plain.request('tools/call', { name, arguments: args });
      const { isError, content } = answer.result as { isError?: boolean; content: { text: string }[] };
      if (!isError) return content[0]!.text;
      await sleep(RETRY_DELAY_MS);
    }
  };
  const waitInTurn = async (agent_id: string): Promise<void> => {
    let ack: string | undefined;
    while (!isStopped) {
      const text = await callUntilAnswered('wait', { agent_id, ...(ack === undefined ? {} : { ack }) });
      onText(text);
      ack = (JSON.parse(text) as WaitAnswer).id;
    }
  };
  await timeRuns(count, REGISTRATIONS_AT_ONCE, async (index) => {
    const text = await callUntilAnswered('register_and_wait', {
      agent_name: `agent-${index}`,
      agent_type: 'bench',
      timeout_seconds: 1,
    });
    void waitInTurn((JSON.parse(text) as WaitAnswer).agent_id).catch((error: unknown) => {
      if (!isStopped) console.error(error);
    });
  });
  return {
    async send(agent, content) {
      await callUntilAnswered('send_message', { to: `agent-${agent}`, from: 'sender', content });
    },
    async inboxes() {
      const ids = await idsOf(temporal, "WorkflowType = 'mailbox_inbox'");
      return ids.filter((id) => /:agent-\d+$/.test(id));
    },
    stop: () => void (isStopped = true),
  };
}

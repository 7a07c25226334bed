/** Protocols that both revisions mount: the plain contract, SEP-1391, two-stage returns, the mailbox. */
import { randomUUID } from 'node:crypto';
import { LegacyClient } from '../../revision-2025-11-25/wire.js';
import { eventually } from '../../stack/cli-process.js';
import { WireClient } from '../../support/mcp.js';
import type { CorpusBuilder, Protocol } from './entry.js';

/** Adds a request to the corpus in one revision. */
type Add = (method: string, params: object, mayWait?: boolean) => void;
interface Revision {
  add: Add;
  request: (method: string, params: object) => Promise<any>;
}

async function revisions(corpus: CorpusBuilder, capabilities: object): Promise<Revision[]> {
  const url = `${corpus.base}/mcp`;
  const current = new WireClient(url, capabilities);
  const older = await LegacyClient.open(url, '2025-11-25', capabilities);
  return [
    {
      add: (method, params, mayWait) => corpus.current(current, method, params, mayWait),
      request: async (method, params) => corpus.keep(await current.request(method, { ...params })),
    },
    {
      add: (method, params, mayWait) => corpus.older(older, method, params, mayWait),
      request: async (method, params) => corpus.keep(await older.request(method, params)),
    },
  ];
}

const slow = { name: 'slow_compute', arguments: { seconds: 0, label: 'l' } };
const asking = { name: 'confirm_delete', arguments: { filename: 'a' } };

export const plain: Protocol = {
  name: 'plain',
  operations: 4,
  async build(corpus) {
    for (const { add, request } of await revisions(corpus, {})) {
      const started = async (call: object) => {
        const { result } = await request('tools/call', call);
        return result.structuredContent.token as string;
      };
      const tokens = { done: await started(slow), asking: await started(asking) };
      const call = (name: string, args: object, mayWait = false) =>
        add('tools/call', { name, arguments: args }, mayWait);
      const get = async (args: object) =>
        (await request('tools/call', { name: 'operation_get', arguments: args })).result;
      await eventually(
        'it asks',
        async () => (await get({ token: tokens.asking })).structuredContent?.status === 'input_required',
      );
      const { result: listed } = await request('tools/call', {
        name: 'operation_list',
        arguments: { limit: 1 },
      });
      const logs = await get({ token: tokens.done, view: 'logs' });
      const { token } = { token: tokens.done };
      add('tools/call', slow);
      add('tools/call', { ...asking, arguments: { ...asking.arguments, idempotency_key: 'fuzz-plain' } });
      call('operation_get', { token, view: 'summary', wait: false });
      call('operation_get', { token: tokens.asking, wait: true, timeout: 1 }, true);
      call('operation_get', { token, view: 'logs', tail: 5, pattern: 'a+b?' });
      if (logs.structuredContent?.log?.cursor)
        call('operation_get', { token, view: 'logs', cursor: logs.structuredContent.log.cursor });
      for (const view of ['full', 'steps', 'result', 'partial']) call('operation_get', { token, view });
      call('operation_list', {
        status: 'running',
        tool: 'confirm_delete',
        since: 60,
        session: 's',
        limit: 2,
      });
      if (listed.structuredContent?.next_cursor)
        call('operation_list', { cursor: listed.structuredContent.next_cursor, limit: 1 });
      call('operation_answer', {
        token: tokens.asking,
        key: 'input-1',
        action: 'accept',
        value: { confirm: true },
      });
      call('operation_cancel', { token, reason: 'r' });
      call('operation_cancel', { filter: { tool: 'multi_input', status: 'running' } });
      call('operation_resume', { token });
      call('operation_delete', { token });
    }
  },
};

export const sep1391: Protocol = {
  name: 'sep-1391',
  operations: 4,
  async build(corpus) {
    for (const { add, request } of await revisions(corpus, { experimental: { asyncTools: {} } })) {
      const own = `fuzz-${randomUUID()}`;
      corpus.harvest.push(own);
      await request('tools/call', { ...slow, operation: { token: own } });
      const { result } = await request('tools/call', asking);
      const tokens = [own, result.operation.token as string];
      await eventually(
        'it is done',
        async () => (await request('tools/async/status', { token: own })).result?.status === 'completed',
      );
      add('tools/call', { ...slow, operation: { keepAlive: 60 } });
      add('tools/call', { ...asking, operation: { token: own, keepAlive: 60 } });
      add('tools/call', { ...slow, operation: { token: own }, _meta: { progressToken: 3 } });
      add('tools/list', {});
      for (const token of tokens) {
        add('tools/async/status', { token, _operation: { token } });
        add('tools/async/result', { token });
      }
      add('tools/async/result', { token: own, _operation: { token: own } });
    }
  },
};

export const twoStage: Protocol = {
  name: 'two-stage',
  operations: 4,
  async build(corpus) {
    for (const { add, request } of await revisions(corpus, { experimental: { twoStage: {} } })) {
      const jobs: string[] = [];
      for (const call of [slow, asking]) jobs.push((await request('tools/call', call)).result.data.job_id);
      add('tools/call', { ...slow, keep_alive_seconds: 60 });
      add('tools/call', { ...asking, arguments: { filename: 'a', idempotency_key: 'fuzz-two-stage' } });
      add('tools/list', {});
      for (const job_id of jobs) {
        add('tools/poll_result', { job_id });
        add('tools/cancel_job', { job_id, reason: 'r' });
      }
    }
    const listener = new WireClient(`${corpus.base}/mcp`, { experimental: { twoStage: {} } });
    corpus.current(
      listener,
      'subscriptions/listen',
      { notifications: { jobIds: corpus.harvest.slice(0, 3) } },
      true,
    );
  },
};

/** A member of an answer whose text is JSON. */
function idIn(answer: unknown, name: string): string {
  const text = JSON.stringify(answer).replaceAll('\\', '');
  const [, id] = new RegExp(`"${name}":"([^"]+)"`).exec(text) ?? [];
  if (id === undefined) throw new Error(`no ${name}: ${text}`);
  return id;
}

export const mailbox: Protocol = {
  name: 'mailbox',
  operations: 0,
  async build(corpus) {
    for (const { add, request } of await revisions(corpus, {})) {
      const call = (name: string, args: object, mayWait = false) =>
        add('tools/call', { name, arguments: args }, mayWait);
      const name = `fuzz-${randomUUID().slice(0, 8)}`;
      const send = { to: name, content: 'c', from: 'fuzz', mode: 'task', ttl_seconds: 60 };
      const register = { agent_name: name, agent_type: 'fuzz', capabilities: ['fuzz'], timeout_seconds: 1 };
      const agentId = idIn(
        await request('tools/call', { name: 'register_and_wait', arguments: register }),
        'agent_id',
      );
      const sent = await request('tools/call', { name: 'send_message', arguments: send });
      const messageId = idIn(sent, 'id');
      corpus.harvest.push(agentId);
      call('register_and_wait', { ...register, parent: 'fuzz' }, true);
      call('wait', { agent_id: agentId, timeout_seconds: 1 }, true);
      call(
        'respond_and_wait',
        { agent_id: agentId, response_to: messageId, response: 'r', timeout_seconds: 1 },
        true,
      );
      call('send_message', send);
      call('send_message', {
        capability: 'fuzz',
        who: 'all',
        content: 'c',
        from: 'fuzz',
        idempotency_key: 'k',
      });
      call('check_replies', { message_id: messageId });
      call('check_status', { parent: 'fuzz' });
      call('check_inbox', { agent_name: name });
      call('report_progress', { agent_id: agentId, message_id: messageId, text: 't' });
      call('dead_letters', { agent_name: name });
      call('bye', { agent_id: agentId });
    }
  },
};

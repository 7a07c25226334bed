/** Plain tools, on every revision (docs/clients.md, "With plain tools"). */
import {
  elicitResultOf,
  undefinedIfGone,
  type GivenAnswer,
  type ProtocolClient,
  type Question,
  type Reading,
  type State,
} from './client.js';
import { call, KEY_META, request, succeeded, type Rpc } from './rpc.js';

const STATES: Record<string, State> = {
  queued: 'submitted',
  running: 'working',
  input_required: 'input_required',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
  errored: 'timed_out',
};

export function plainClient(rpc: Rpc): ProtocolClient {
  const read = (args: object, signal?: AbortSignal) =>
    undefinedIfGone(async () => {
      const { structuredContent } = await call(rpc, 'operation_get', { ...args, view: 'full' }, {}, signal);
      return structuredContent.status === 'expired' ? undefined : readingOf(structuredContent);
    });
  return {
    name: `${rpc.revision} plain`,
    async start(tool, args, key, signal) {
      const params = { name: tool, arguments: { ...args, wait: false }, _meta: { [KEY_META]: key } };
      const result = await request(rpc, 'tools/call', params, signal);
      // A repeated call of work that has failed is a failed call, which names its operation.
      return (result.structuredContent ?? succeeded(result).structuredContent).token;
    },
    read: (token, signal) => read({ token }, signal),
    answer: (...given) => answerByTool(rpc, ...given),
    cancel: (token, signal) => cancelByTool(rpc, token, signal),
    async resume(token, signal) {
      const { structuredContent } = await call(rpc, 'operation_resume', { token }, {}, signal);
      return structuredContent.token;
    },
    wait: (token, timeout, signal) => read({ token, wait: true, timeout }, signal),
  };
}

export async function answerByTool(
  rpc: Rpc,
  token: string,
  key: string,
  given: GivenAnswer,
  signal?: AbortSignal,
): Promise<'accepted' | 'queued'> {
  const args = { token, key, ...elicitResultOf(given) };
  const { structuredContent } = await call(rpc, 'operation_answer', args, {}, signal);
  return structuredContent.answered.state;
}

export async function cancelByTool(rpc: Rpc, token: string, signal?: AbortSignal): Promise<boolean> {
  const { structuredContent } = await call(rpc, 'operation_cancel', { token }, {}, signal);
  return structuredContent.was_open || structuredContent.status === 'cancelled';
}

/** Open questions by their keys. */
export function questionsIn(byKey: Record<string, { message: string; schema: object }> = {}): Question[] {
  return Object.entries(byKey).map(([key, { message, schema }]) => ({ key, message, schema }));
}

function readingOf(envelope: any): Reading {
  const { status, cancel_requested, progress, input_required, answers, result, resumed_from } = envelope;
  const isOver = envelope.next_action === undefined;
  return {
    status,
    states: [cancel_requested ? 'canceling' : STATES[status]!],
    isOver,
    ...(progress ? { progress } : {}),
    questions: cancel_requested ? [] : questionsIn(input_required),
    ...(answers ? { answers } : {}),
    ...(status === 'completed' ? { result } : {}),
    ...(resumed_from ? { resumedFrom: resumed_from } : {}),
    raw: envelope,
  };
}

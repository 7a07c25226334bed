/** Two-stage returns, on every revision (docs/two-stage.md). */
import { OPT_IN } from '../../two-stage/client.js';
import {
  elicitResultOf,
  failedStates,
  Refused,
  undefinedIfGone,
  type ProtocolClient,
  type Reading,
  type State,
} from './client.js';
import type { WireClient } from '../mcp.js';
import { untilNotified } from './notified.js';
import { answerByTool } from './plain.js';
import { call, KEY_META, request, type Rpc } from './rpc.js';

export { OPT_IN as TWO_STAGE };

/** @param wire for waits by subscriptions; revisions with sessions have none here */
export function twoStageClient(rpc: Rpc, wire?: WireClient): ProtocolClient {
  const read = (job_id: string, signal?: AbortSignal) =>
    undefinedIfGone(async () => readingOf(await found(rpc, 'tools/poll_result', { job_id }, signal)));
  return {
    name: `${rpc.revision} two-stage`,
    async start(tool, args, key, signal) {
      const { data } = await call(rpc, tool, args, { _meta: { [KEY_META]: key } }, signal);
      return data.job_id;
    },
    read,
    /** Sends the request that the question names; for a question that isn't open, the same one. */
    async answer(token, key, given, signal) {
      const asked = (await read(token, signal))?.questions.find((question) => question.key === key);
      const { answer_with } = (asked ?? {}) as { answer_with?: any };
      if (!answer_with) return answerByTool(rpc, token, key, given, signal);
      const { name, arguments: args } = answer_with.params;
      const { structuredContent } = await call(rpc, name, { ...args, ...elicitResultOf(given) }, {}, signal);
      return structuredContent.answered.state;
    },
    async cancel(job_id, signal) {
      const { success } = await found(rpc, 'tools/cancel_job', { job_id }, signal);
      return success;
    },
    ...(wire
      ? {
          async wait(token: string, seconds: number, signal?: AbortSignal) {
            const isDone = ({ method, params }: any) =>
              method === 'notifications/tool_result' ||
              (method === 'notifications/progress' && params.questions);
            await untilNotified(() => wire.listen({ jobIds: [token] }), isDone, seconds, signal);
            return read(token, signal);
          },
        }
      : {}),
  };
}

/** @throws Refused `not_found` */
async function found(
  rpc: Rpc,
  method: string,
  params: { job_id: string },
  signal?: AbortSignal,
): Promise<any> {
  const result = await request(rpc, method, params, signal);
  const [message] = result.messages;
  if (!result.success && message.text === `Job not found: ${params.job_id}`)
    throw new Refused('not_found', undefined, message.text);
  return result;
}

function readingOf(answer: any): Reading {
  const { data } = answer;
  const { status, progress, questions = [], result } = data;
  return {
    status,
    states: statesOf(data),
    isOver: status === 'complete',
    ...(progress === undefined ? {} : { share: progress }),
    questions,
    ...(result?.success ? { result: result.data } : {}),
    raw: answer,
  };
}

function statesOf({ status, cancel_requested, questions, result }: any): State[] {
  if (status === 'complete') return result.success ? ['completed'] : failedStates(result.data.error.kind);
  if (cancel_requested) return ['canceling'];
  if (status === 'queued') return ['submitted'];
  return questions ? ['input_required'] : ['working'];
}

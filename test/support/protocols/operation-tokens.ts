/** Operation tokens, on every revision (docs/sep-1391.md). Questions and cancels are those of the tools about operations. */
import { OPTED_IN } from '../../sep-1391/client.js';
import { undefinedIfGone, type ProtocolClient, type State } from './client.js';
import { answerByTool, cancelByTool, questionsIn } from './plain.js';
import { call, KEY_META, request, type Rpc } from './rpc.js';

export { OPTED_IN as OPERATION_TOKENS };

const STATES: Record<string, State[]> = {
  submitted: ['submitted'],
  working: ['working'],
  input_required: ['input_required'],
  completed: ['completed'],
  failed: ['failed', 'timed_out'],
  canceled: ['canceling', 'canceled'],
};

export function operationTokensClient(rpc: Rpc): ProtocolClient {
  return {
    name: `${rpc.revision} SEP-1391`,
    async start(tool, args, key, signal) {
      const { operation } = await call(rpc, tool, args, { _meta: { [KEY_META]: key } }, signal);
      return operation.token;
    },
    read: (token, signal) =>
      undefinedIfGone(async () => {
        const answer = await request(rpc, 'tools/async/status', { token }, signal);
        const { status, progress, inputRequests, error } = answer;
        if (status === 'failed' && error === 'Operation has expired') return undefined;
        if (status === 'unknown') throw new Error(`unknown: ${JSON.stringify(answer)}`);
        const outcome =
          status === 'completed'
            ? (await request(rpc, 'tools/async/result', { token }, signal)).result
            : undefined;
        return {
          status,
          states: STATES[status]!,
          isOver: ['completed', 'failed', 'canceled'].includes(status),
          ...(progress ? { progress } : {}),
          questions: questionsIn(inputRequests),
          ...(outcome ? { result: outcome.structuredContent } : {}),
          raw: { answer, outcome },
        };
      }),
    answer: (...given) => answerByTool(rpc, ...given),
    cancel: (token, signal) => cancelByTool(rpc, token, signal),
  };
}

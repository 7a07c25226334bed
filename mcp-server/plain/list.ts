/** tools/list for clients without tasks: long tools under the plain contract. */
import type { ProtocolLines } from '../../operations/documentation/describe.js';
import type { Tool } from '../../operations/tool/index.js';
import { compactSchema } from './envelope/index.js';
import { listedSchema } from '../listed-tools/schema.js';
import { listedTool, type ListedTool } from '../listed-tools/listed-tool.js';
import type { RequestCancellation } from '../call/serving.js';
import { plainInputSchema } from './schemas.js';

export function listPlainTool(tool: Tool): ListedTool {
  return {
    ...listedTool(tool, useOf(tool)),
    inputSchema: plainInputSchema(tool, listedSchema(tool.inputSchema)),
    outputSchema: compactSchema,
  };
}

function useOf({ wait, timeoutSeconds }: Tool): string {
  return wait
    ? `Waits for the result, for ${timeoutSeconds} s at most; then, or with wait false, answers with a token for operation_get.`
    : 'Answers at once with a token for operation_get.';
}

const END_OF_WAIT: Record<RequestCancellation, string> = {
  notification: 'notifications/cancelled for the call',
  'closed stream': 'the end of its stream',
};

export function documentPlainTool(
  { wait, keepAliveSeconds }: Tool,
  cancelledBy: RequestCancellation,
): ProtocolLines {
  return {
    states:
      'States: queued, running, input_required; final: completed, failed, cancelled, errored (timed out), expired.',
    following: [
      wait
        ? 'Waits, and returns a token if that takes longer than timeout; with wait false at once.'
        : 'Returns a token at once; with wait true it waits, for timeout seconds at most.',
      'Then call operation_get with it, each time after next_action.check_after_seconds, until next_action is missing; operation_answer for input_required.',
      `Results are kept ${keepAliveSeconds} s. Lost the token? operation_list.`,
    ].join(' '),
    cancel: `operation_cancel ends the work, idempotently; what is finished stays. The end of a wait cancels nothing, nor does ${END_OF_WAIT[cancelledBy]}.`,
    // Lets the call return a token at once.
    ...(wait ? { exampleArguments: { wait: false } } : {}),
    example: (result) =>
      `{"token":"T","status":"queued"}; operation_get {"token":"T"} -> {"status":"running"}, later {"status":"completed","result":${result}}.`,
  };
}

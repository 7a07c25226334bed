/** Tools as listed for clients with operation tokens (SEP-1391, "Enhanced Tool Definitions"). */
import { humanDuration } from '../../operations/tool/budgets.js';
import { KEY_LINE, type ProtocolLines } from '../../operations/documentation/describe.js';
import type { Tool } from '../../operations/tool/index.js';
import { listedTool, type ListedTool } from '../listed-tools/listed-tool.js';
import type { RequestCancellation } from '../call/serving.js';

const CANCEL: Record<RequestCancellation, string> = {
  notification:
    'operation_cancel, or notifications/cancelled for the call, ends the work; what is finished stays. The end of the connection cancels nothing.',
  // The call is answered at once, so no stream is left to close.
  'closed stream':
    'operation_cancel ends the work; what is finished stays. The end of a stream or connection cancels nothing.',
};

const USE =
  'Operation tokens (experimental.asyncTools): answers at once, then tools/async/status and tools/async/result.';

export function listAsyncTool(tool: Tool, cancelledBy: RequestCancellation): ListedTool {
  // Omits the output schema, which the immediate reply would have to match (specs: server/tools, "Output Schema").
  const { outputSchema: _outputSchema, ...listed } = listedTool(tool, `${USE} ${CANCEL[cancelledBy]}`);
  return { ...listed, invocationMode: 'async' };
}

export function documentAsyncTool(
  { keepAliveSeconds }: Tool,
  cancelledBy: RequestCancellation,
): ProtocolLines {
  return {
    states:
      'Operation tokens (experimental.asyncTools). Operation statuses: submitted, working, input_required; final: completed, failed (timed out too), canceled, unknown.',
    following: `Answers at once and continues in the background; the result comes later: tools/async/status after pollFrequency, then tools/async/result. It can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
    cancel: CANCEL[cancelledBy],
    idempotency: `operation.token is used once: a second use is refused and starts nothing. ${KEY_LINE}`,
    example: (result) =>
      `{"operation":{"token":"T","status":"submitted"}}; tools/async/status {"token":"T"} -> {"status":"completed"}; tools/async/result {"token":"T"} -> {"result":{"structuredContent":${result}}}.`,
  };
}

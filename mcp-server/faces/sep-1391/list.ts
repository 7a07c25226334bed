/** Tools as clients with operation tokens are told of them (SEP-1391, "Enhanced Tool Definitions"). */
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import {
  describeOn,
  shownInput,
  shownResult,
  type FaceLines,
} from '../../../operations/documentation/describe.js';
import type { Tool } from '../../../operations/tool.js';
import { shortDescription } from '../../short-description.js';

/** The tools, without those about operations. */
export function asyncTools(engine: Engine): object[] {
  return engine.tools.values().map((tool) => {
    const { name, title, inputSchema, outputSchema, annotations } = tool;
    const hints = annotations ? { annotations } : {};
    if (tool.taskSupport === 'forbidden')
      return syncTool({
        name,
        title,
        description: shortDescription(tool),
        inputSchema,
        ...(outputSchema ? { outputSchema } : {}),
        ...hints,
      });
    // Without its output schema: the call's immediate reply would have to match it (specs: server/tools, "Output Schema").
    return {
      name,
      title,
      description: describeOn(tool, linesOf(tool)),
      inputSchema,
      ...hints,
      invocationMode: 'async',
    };
  });
}

/** A tool whose every call is answered with its result. */
export function syncTool(tool: object): object {
  return { ...tool, invocationMode: 'sync' };
}

function linesOf({ name, keepAliveSeconds, example }: Tool): FaceLines {
  return {
    states:
      'Operation statuses: submitted, working, input_required; final: completed, failed (timed out too), canceled, unknown.',
    following: `Answers at once and goes on by itself; the result comes later: tools/async/status after pollFrequency, then tools/async/result. It can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
    cancel:
      'operation_cancel, or notifications/cancelled for the call, ends the work; what is finished stays. The end of the connection cancels nothing.',
    idempotency:
      'operation.token is used once: the same token again is refused and starts nothing, so a call may be repeated with it.',
    rates: 'No rate limits.',
    example: `Example: ${name} ${shownInput(example)} -> {"operation":{"token":"T","status":"submitted"}}; tools/async/status {"token":"T"} -> {"status":"completed"}; tools/async/result {"token":"T"} -> {"result":{"structuredContent":${shownResult(example)}}}.`,
  };
}

/** Converts protocol tasks and results for printing: text for people, and the status of the operation's record. */
import { STATUS_META_KEY, TEXT_META_KEY } from '../../operations/wire/meta-keys.js';
import type { OperationStatus } from '../../operations/record.js';
import { errorKindOf, type ProtocolTask, type Task, type ToolResult } from './wire.js';

/** A task without the fields of the response that carried it. */
export function asTask(answer: ProtocolTask & { resultType?: string }): Task {
  const { resultType: _resultType, _meta = {}, result, ...task } = answer;
  const { [STATUS_META_KEY]: _status, ...meta } = _meta;
  return {
    ...task,
    status: statusOf(answer),
    ...(result === undefined ? {} : { result: withPlainText(result) }),
    ...(Object.keys(meta).length ? { _meta: meta } : {}),
  };
}

/**
 * The record's status. Other vendors' servers report failed work as completed, with `isError` (specs: ext-tasks, "Task Execution
 * Errors").
 */
function statusOf({ status, result, _meta }: ProtocolTask): OperationStatus {
  const own = _meta?.[STATUS_META_KEY];
  if (typeof own === 'string') return own as OperationStatus;
  if (status === 'cancelled') return 'canceled';
  return status === 'completed' && result?.isError ? statusOfError(result) : status;
}

function statusOfError(result: ToolResult): OperationStatus {
  const kind = errorKindOf(result);
  return kind === 'timed_out' || kind === 'canceled' ? kind : 'failed';
}

/** The result with the text for people, if the server also sends one for models. */
export function withPlainText({ _meta = {}, ...result }: ToolResult): ToolResult {
  const { [TEXT_META_KEY]: text, ...meta } = _meta;
  const [first, ...others] = result.content ?? [];
  return {
    ...result,
    ...(typeof text === 'string' && first ? { content: [{ ...first, text }, ...others] } : {}),
    ...(Object.keys(meta).length ? { _meta: meta } : {}),
  };
}

/** Tools as listed for clients with two-stage returns. */
import { humanDuration } from '../../operations/tool/budgets.js';
import type { ProtocolLines } from '../../operations/documentation/describe.js';
import type { Tool } from '../../operations/tool/index.js';
import { listedTool, type ListedTool } from '../listed-tools/listed-tool.js';
import { jobSchema } from './schemas.js';

const USE =
  'Two-stage returns (experimental.twoStage): answers at once with a job_id and an estimate; its result is notified, or read with tools/poll_result.';

export function listTwoStageTool(tool: Tool): ListedTool {
  return { ...listedTool(tool, USE), async: true, outputSchema: jobSchema };
}

export function documentTwoStageTool({ keepAliveSeconds }: Tool): ProtocolLines {
  return {
    states:
      'Two-stage returns (experimental.twoStage). Job statuses: queued, running; final: complete, with success true or false.',
    following: `Answers at once with a job_id and an estimate; the work continues whether or not a client waits, and its result is sent as a notification or read with tools/poll_result. operation_get with the job_id as token shows more, operation_answer answers its questions. Its result can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
    cancel: 'operation_cancel ends the work, idempotently; what is finished stays.',
    example: (result) =>
      `{"success":true,"data":{"job_id":"J","status":"queued"}}; tools/poll_result {"job_id":"J"} -> {"data":{"status":"running"}}, later {"data":{"status":"complete","result":{"success":true,"data":${result}}}}.`,
  };
}

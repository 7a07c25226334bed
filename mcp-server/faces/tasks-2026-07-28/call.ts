/** tools/call: what a call needs before it starts, what it becomes, and waiting for short work. */
import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import { LonghaulError } from '../../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import type { Tool } from '../../../operations/tool.js';
import { operationTools } from '../../operation-tools/index.js';
import { renderFailure, renderResult } from '../../results.js';
import { missingTasksCapability, renderCreated, renderRefusal } from './render.js';
import { capabilitiesOf, elicitResult } from './schemas.js';

/**
 * Calls a tool: a task for clients that have tasks, the result itself for short work.
 *
 * @throws LonghaulError `unknown_tool`, `invalid_arguments` for a question that was not answered
 * @throws ProtocolError -32021 for long work without the extension
 */
export async function callTool(
  engine: Engine,
  principal: string,
  name: string,
  given: Record<string, unknown>,
  context: ServerContext,
): Promise<Result> {
  const operationTool = operationTools.get(name);
  if (operationTool) return orRefusal(() => operationTool.call(engine, principal, given));
  const tool = engine.tool(name);
  const capabilities = capabilitiesOf(context);
  const isTask = capabilities.tasks && tool.taskSupport !== 'forbidden';
  if (!isTask && !(tool.wait && tool.taskSupport !== 'required')) throw missingTasksCapability();
  const { args, question } = withAnswers(
    tool,
    given,
    context.mcpReq.inputResponses,
    capabilities.elicitation,
  );
  if (question) return question;
  let record;
  try {
    record = await engine.start(principal, name, args);
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefusal(error);
    throw error;
  }
  if (isTask) return { ...renderCreated(record, { elicitation: capabilities.elicitation, tool }) };
  return wait(engine, principal, record.token, tool, context);
}

async function orRefusal(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefusal(error);
    throw error;
  }
}

/**
 * Asks for arguments that the call lacks and the tool asks for, before anything starts: a multi-round-trip request
 * (specs: 2026-07-28 basic/patterns/mrtr). The retried call carries the answers; nothing is kept in between.
 */
function withAnswers(
  tool: Tool,
  given: Record<string, unknown>,
  responses: Record<string, unknown> | undefined,
  canAsk: boolean,
): { args: Record<string, unknown>; question?: InputRequiredResult } {
  const args = { ...given };
  for (const argument of Object.keys(tool.askFor)) {
    const answer = elicitResult.safeParse(responses?.[argument]);
    if (args[argument] === undefined && answer.data?.action === 'accept') {
      args[argument] = answer.data.content[argument];
    } else if (answer.data) {
      throw new LonghaulError(
        'invalid_arguments',
        `arguments.${argument}: missing, and the question for it was not answered`,
      );
    }
  }
  const missing = Object.entries(tool.askFor).filter(([argument]) => args[argument] === undefined);
  if (missing.length === 0 || !canAsk) return { args };
  const properties = tool.inputSchema['properties'] as Record<string, object>;
  return {
    args,
    question: inputRequired({
      inputRequests: Object.fromEntries(
        missing.map(([argument, message]) => [
          argument,
          inputRequired.elicit({
            message,
            requestedSchema: {
              type: 'object',
              properties: { [argument]: properties[argument] },
              required: [argument],
            } as never,
          }),
        ]),
      ),
    }),
  };
}

/** Waits for short work within the call, with progress on the call's own stream; its end ends nothing but the wait. */
async function wait(
  engine: Engine,
  principal: string,
  token: string,
  tool: Tool,
  context: ServerContext,
): Promise<Result> {
  const { progressToken } = context.mcpReq._meta ?? {};
  const budget = AbortSignal.timeout(tool.timeoutSeconds * 1000);
  const signal = AbortSignal.any([budget, context.mcpReq.signal]);
  let last: OperationRecord | undefined;
  let sent = -1;
  for await (const seen of engine.watch(principal, token, {
    signal,
    progress: progressToken !== undefined,
  })) {
    last = seen;
    const { progress } = seen;
    if (progressToken === undefined || !progress || progress.progress <= sent) continue;
    sent = progress.progress;
    await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } });
  }
  const record = last ?? (await engine.read(principal, token));
  if (record.status === 'completed') return { ...renderResult(record, tool) };
  if (record.error?.kind === 'protocol')
    throw new ProtocolError(record.error.code ?? ProtocolErrorCode.InternalError, record.error.message);
  if (isTerminal(record.status)) return { ...renderFailure(record) };
  return {
    ...renderRefusal(
      new LonghaulError(
        'timed_out',
        `not finished within ${humanDuration(tool.timeoutSeconds)}; the work goes on under the token ${token} (longhaul result ${token})`,
      ),
    ),
  };
}

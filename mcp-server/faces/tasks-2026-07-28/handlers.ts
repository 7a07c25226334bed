/** The verbs of this face. One Server of the SDK is made for each exchange; nothing sticks to it. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Engine, ListFilter } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import { LonghaulError } from '../../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import type { Tool } from '../../../operations/tool.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS } from '../../identity.js';
import { readResource } from '../../resources.js';
import { renderFailure, renderResult } from '../../results.js';
import {
  missingTasksCapability,
  renderCreated,
  renderDetailed,
  renderError,
  renderRefusal,
} from './render.js';
import {
  anyResult,
  declaredCapabilities,
  elicitResult,
  listOperationsParams,
  TASKS_EXTENSION,
  taskParams,
} from './schemas.js';

/** The SDK completes every result of a call to a CallToolResult; a CreateTaskResult is none and has no content. */
class TasksServer extends Server {
  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler);
    if (method !== 'tools/call') return wrapped;
    return async (request, context) => {
      const result = await wrapped(request, context);
      if (result['resultType'] !== 'task') return result;
      const { content: _content, ...task } = result;
      return task;
    };
  }
}

/** A server for one exchange or connection of this face. */
export function createServer(engine: Engine, principal: string): Server {
  const server = new TasksServer(SERVER_INFO, {
    capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: SERVER_INSTRUCTIONS,
  });
  server.setRequestHandler('tools/list', () => ({ tools: [...engine.tools.values()].map(renderTool) }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/read', ({ params }) => readResource(engine, principal, params.uri));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    try {
      const result = await callTool(engine, principal, params.name, params.arguments ?? {}, context);
      return result as CallToolResult;
    } catch (error) {
      throw renderError(error);
    }
  });

  /** A method of the extension: only for clients that declare it, whatever else is wrong. */
  const tasksMethod = (method: string, handle: (taskId: string, context: ServerContext) => Promise<Result>) =>
    server.setRequestHandler(
      method,
      { params: taskParams, result: anyResult },
      async ({ taskId }, context) => {
        if (!capabilitiesOf(context).tasks) throw missingTasksCapability();
        try {
          return { resultType: 'complete', ...(await handle(taskId, context)) };
        } catch (error) {
          throw renderError(error);
        }
      },
    );

  tasksMethod('tasks/get', async (taskId, context) => {
    const record = await engine.read(principal, taskId);
    const { elicitation } = capabilitiesOf(context);
    return { ...renderDetailed(record, { elicitation, tool: engine.tools.get(record.tool) }) };
  });
  tasksMethod('tasks/update', async (taskId, { mcpReq }) => {
    // The SDK lifts this field out of every method's params.
    if (!mcpReq.inputResponses) {
      throw new LonghaulError(
        'invalid_arguments',
        'params.inputResponses: expected an object of key -> answer; got nothing',
      );
    }
    await answerAll(engine, principal, taskId, mcpReq.inputResponses);
    return {};
  });
  tasksMethod('tasks/cancel', async (taskId) => {
    await engine.cancel(principal, taskId);
    return {};
  });
  // The tasks extension has no list. Ours is for people at Longhaul's command line.
  server.setRequestHandler(
    'longhaul/operations/list',
    { params: listOperationsParams, result: anyResult },
    async (params) => {
      try {
        const { cursor, createdAfter, ...filter } = params;
        const page = await engine.list(principal, {
          ...filter,
          ...(createdAfter === undefined ? {} : { createdAfter: new Date(createdAfter) }),
          ...(cursor === undefined ? {} : { cursor: Buffer.from(cursor, 'base64url') }),
        } as ListFilter);
        const nextCursor = page.nextCursor && Buffer.from(page.nextCursor).toString('base64url');
        return { resultType: 'complete', operations: page.operations, ...(nextCursor ? { nextCursor } : {}) };
      } catch (error) {
        throw renderError(error);
      }
    },
  );
  return server;
}

function renderTool(tool: Tool) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as { type: 'object' },
    ...(tool.outputSchema ? { outputSchema: tool.outputSchema as { type: 'object' } } : {}),
    ...(tool.annotations ? { annotations: tool.annotations } : {}),
  };
}

function capabilitiesOf(context: ServerContext) {
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined;
  return declaredCapabilities(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

async function callTool(
  engine: Engine,
  principal: string,
  name: string,
  given: Record<string, unknown>,
  context: ServerContext,
): Promise<Result> {
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

/**
 * Hands over each answer. Keys that aren't open are ignored (specs: ext-tasks, "Task Update Requests"); an answer
 * that doesn't fit its question is refused, after the others have been handed over.
 */
async function answerAll(
  engine: Engine,
  principal: string,
  token: string,
  responses: Record<string, unknown>,
): Promise<void> {
  const record = await engine.read(principal, token);
  const problems: string[] = [];
  for (const [key, response] of Object.entries(responses)) {
    if (!(key in record.inputRequests)) continue;
    const answer = elicitResult.safeParse(response);
    if (!answer.success) {
      problems.push(
        `inputResponses.${key}: expected {action: accept | decline | cancel, content}; got ${JSON.stringify(response)}`,
      );
      continue;
    }
    try {
      await engine.answer(principal, token, key, answer.data);
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      if (error.kind === 'invalid_answer') problems.push(`inputResponses.${key}: ${error.message}`);
      else if (error.kind !== 'wrong_state') throw error;
    }
  }
  if (problems.length) throw new LonghaulError('invalid_answer', problems.join('\n'));
}

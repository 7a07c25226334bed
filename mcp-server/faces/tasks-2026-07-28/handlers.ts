/** The verbs of this face. One Server of the SDK is made for each exchange; nothing sticks to it. */
import { Server, type CallToolResult, type Result, type ServerContext } from '@modelcontextprotocol/server';
import type { Engine, ListFilter } from '../../../engine/index.js';
import { LonghaulError } from '../../../operations/errors.js';
import type { Tool } from '../../../operations/tool.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS } from '../../identity.js';
import { operationTools, type OperationTool } from '../../operation-tools/index.js';
import { readResource, RESOURCE_LIMIT_BYTES } from '../../resources.js';
import { callTool } from './call.js';
import { missingTasksCapability, renderDetailed, renderError, renderSteps } from './render.js';
import {
  anyResult,
  capabilitiesOf,
  elicitResult,
  listOperationsParams,
  readOperationParams,
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
export function createServer(engine: Engine, principal: string, transport: 'http' | 'stdio'): Server {
  const server = new TasksServer(SERVER_INFO, {
    capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: SERVER_INSTRUCTIONS,
  });
  server.setRequestHandler('tools/list', () => ({
    tools: [...engine.tools.values(), ...operationTools.values()].map(renderTool),
  }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/read', ({ params }) =>
    readResource(engine, principal, params.uri, RESOURCE_LIMIT_BYTES[transport]),
  );
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
  // A task has no steps. These too are for people at the command line.
  server.setRequestHandler(
    'longhaul/operations/read',
    { params: readOperationParams, result: anyResult },
    async ({ token }) => {
      try {
        return { resultType: 'complete', ...renderSteps(await engine.readLive(principal, token)) };
      } catch (error) {
        throw renderError(error);
      }
    },
  );
  return server;
}

function renderTool(tool: Tool | OperationTool) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as { type: 'object' },
    ...(tool.outputSchema ? { outputSchema: tool.outputSchema as { type: 'object' } } : {}),
    ...(tool.annotations ? { annotations: tool.annotations } : {}),
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

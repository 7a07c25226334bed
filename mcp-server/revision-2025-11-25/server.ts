/** Method handlers. Each POST or stdio connection gets an SDK Server, which keeps no state. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestParamsSchema,
  CallToolResultSchema,
  CreateTaskResultSchema,
  type ListToolsResult,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isKind } from '../../operations/errors.js';
import { isOperation } from '../sep-1391/render.js';
import { operationResult, operationStatus } from '../sep-1391/handlers.js';
import { cancelTask, getTask, listParams, listTasks, taskParams, taskResult } from './tasks/handlers.js';
import { CANCEL_METHOD, POLL_METHOD } from '../two-stage/schemas.js';
import { cancelJob, pollResult } from '../two-stage/handlers.js';
import type { Guard } from '../guard.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS } from '../call/identity.js';
import { OPT_IN_CAPABILITIES } from '../call/select-protocol.js';
import { parseParams } from '../call/params.js';
import { asTaskError } from '../call/protocol-error.js';
import { sharedMethods, traceMessage } from '../revisions/methods.js';
import { callTool } from './call.js';
import { type LegacyContext, linkTransformOf, type CallStream } from './context.js';
import { withCallContext } from './plain-waits.js';
import { featuresOf, viewerOf, type Session } from './session.js';
import { showQuestionsWithStatus } from './questions.js';

/** JSON-RPC code of an unknown resource (specs: 2025-11-25 server/resources, "Error Handling"). */
const RESOURCE_NOT_FOUND = -32002;

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
type Params = Record<string, unknown>;
interface Message {
  method: string;
  params?: Params;
}
type Handler = (params: Params, extra: Extra) => Promise<object> | object;
/** Handles a request as a span, and as its log lines' context. */
type Trace = <Response extends object>(
  request: Message,
  extra: Extra,
  handle: () => Promise<Response>,
) => Promise<Response>;

/** Shared: creating a validator costs more than a call. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** Traces the requests that the SDK handles itself: its constructors register `initialize` and `ping`. */
class LegacyServer extends Server {
  constructor(
    private readonly trace: Trace,
    ...options: ConstructorParameters<typeof Server>
  ) {
    super(...options);
  }

  override setRequestHandler(...[schema, handle]: Parameters<Server['setRequestHandler']>): void {
    super.setRequestHandler(schema, (request, extra) =>
      this.trace(request as Message, extra, async () => handle(request, extra)),
    );
  }
}

/** Creates the server for one exchange or connection. @param streamOf the stream for the current request's messages */
export function createLegacyServer(
  context: LegacyContext,
  session: Session,
  streamOf: (extra: Extra) => CallStream,
): Server {
  const { engine, serving } = context;
  const features = featuresOf(session.version);
  // No tasks/list without identified principals (specs: 2025-11-25 basic/utilities/tasks, "Security Considerations").
  const isIdentified = engine.principal !== ANONYMOUS;
  const tasks = { ...(isIdentified ? { list: {} } : {}), cancel: {}, requests: { tools: { call: {} } } };
  const trace: Trace = ({ method, params }, { requestId: id }, handle) =>
    traceMessage({ engine, serving, revision: session.version }, { method, id, params }, handle);
  const server = new LegacyServer(trace, SERVER_INFO, {
    capabilities: { tools: {}, resources: {}, ...(features.tasks ? { tasks } : {}), ...OPT_IN_CAPABILITIES },
    instructions: SERVER_INSTRUCTIONS,
    jsonSchemaValidator,
  });
  const withLinks = linkTransformOf(context, session);
  const handlers = new Map<string, Handler>();
  const on = (method: string, handle: Handler) => handlers.set(method, handle);
  // The SDK's own registration would answer wrong params with -32603, and needs a capability for prompt methods.
  server.fallbackRequestHandler = async (request, extra) => {
    const { method, params = {} } = request as Message;
    const handle = handlers.get(method);
    if (!handle) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const answer = async () => {
      try {
        return withLinks(await context.shutdown.track(Promise.resolve(handle(params, extra))));
      } catch (error) {
        throw asTaskError(error);
      }
    };
    return trace({ method, params }, extra, answer);
  };

  const shared = sharedMethods(engine, serving.transport, () => viewerOf(session));
  for (const [method, handle] of Object.entries(shared)) on(method, handle);
  if (features.tasks)
    on('tools/list', async (params) => {
      const { tools, ...list } = (await shared['tools/list'](params, undefined)) as ListToolsResult;
      return { ...list, tools: tools.map((tool) => withTaskSupport(engine, tool)) };
    });
  on('tools/call', async (params, extra) => {
    const { task } = parseParams(CallToolRequestParamsSchema, params);
    const result = await callTool(context, session, params, streamOf(extra));
    return parseParams(task ? CreateTaskResultSchema : CallToolResultSchema, result, 'result');
  });
  on('resources/read', async (params) => {
    try {
      return await shared['resources/read'](params, undefined);
    } catch (error) {
      if (!isKind(error, 'not_found')) throw error;
      throw new ProtocolError(RESOURCE_NOT_FOUND, error.message, { uri: params['uri'] });
    }
  });
  if (session.asyncTools) {
    on('tools/async/status', (params, extra) =>
      operationStatus(engine, params, (record) =>
        showQuestionsWithStatus(context, session, streamOf(extra), record, 'operation'),
      ),
    );
    on('tools/async/result', (params) => operationResult(engine, params));
  }
  if (session.twoStage) {
    on(POLL_METHOD, (params, extra) =>
      pollResult(engine, params, (record) => {
        const by = session.asyncTools && isOperation(record) ? 'operation' : 'job';
        return showQuestionsWithStatus(context, session, streamOf(extra), record, by);
      }),
    );
    on(CANCEL_METHOD, (params) => cancelJob(engine, params));
  }
  if (features.tasks) registerTasks();
  return server;

  function registerTasks(): void {
    on('tasks/get', (params) => getTask(engine, parseParams(taskParams, params).taskId, session));
    on('tasks/cancel', (params) => cancelTask(engine, parseParams(taskParams, params).taskId, session));
    on('tasks/result', async (params, extra) => {
      const { taskId } = parseParams(taskParams, params);
      const stream = streamOf(extra);
      stream.position.wait = { kind: 'task', token: taskId };
      stream.mark();
      const result = await withCallContext(context, session, stream, (caller) =>
        taskResult(engine, taskId, caller, session),
      );
      if (!result) throw new ProtocolError(ProtocolErrorCode.InternalError, 'the wait was ended');
      return result;
    });
    if (isIdentified)
      on('tasks/list', (params) => listTasks(engine, parseParams(listParams, params).cursor, session));
  }
}

function withTaskSupport(engine: Guard, listed: ListToolsResult['tools'][number]) {
  const tool = engine.tools.get(listed.name);
  return tool ? { ...listed, execution: { taskSupport: tool.taskSupport } } : listed;
}

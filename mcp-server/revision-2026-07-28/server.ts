/** Method handlers of MCP 2026-07-28. Each exchange or connection gets an SDK Server, which keeps no state. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ListToolsResult,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Guard } from '../guard.js';
import type { Shutdown } from '../shutdown/index.js';
import { HookedServer } from '../sdk-internal/hooked-server.js';
import { noteRpcError } from '../metrics/requests.js';
import { operationResult, operationStatus } from '../sep-1391/handlers.js';
import { registerTasks } from './tasks/handlers.js';
import { anyResult, clientNameOf, TASKS_EXTENSION } from './tasks/schemas.js';
import { CANCEL_METHOD, POLL_METHOD } from '../two-stage/schemas.js';
import { cancelJob, pollResult } from '../two-stage/handlers.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS, PROMPT_METHODS } from '../call/identity.js';
import { linkTransform } from '../links/links-as-text.js';
import { OPT_IN_CAPABILITIES, type ExperimentalCapabilities } from '../call/select-protocol.js';
import { withFirstIssueOnly } from '../call/params.js';
import { asProtocolError } from '../call/protocol-error.js';
import type { Serving } from '../call/serving.js';
import { Calls, type Connection } from './call.js';
import { sharedMethods, traceMessage } from '../revisions/methods.js';
import { clientOf, viewerOf, withTaskSubstitutes } from './list.js';

/**
 * Post-processes results: renders links in the client's form, and drops `content` from a CreateTaskResult, because the SDK
 * completes every tools/call result to a CallToolResult.
 */
class CurrentServer extends HookedServer {
  constructor(
    private readonly engine: Guard,
    private readonly shutdown: Shutdown,
    private readonly serving: Serving,
    ...options: ConstructorParameters<typeof Server>
  ) {
    super(...options);
  }

  /** Allows handlers of prompt methods without the capability. */
  protected override assertRequestHandlerCapability(method: string): void {
    if (!PROMPT_METHODS.includes(method)) super.assertRequestHandlerCapability(method);
  }

  protected override async around(
    method: string,
    params: unknown,
    context: ServerContext,
    handle: () => Promise<Result>,
  ): Promise<Result> {
    const { id } = context.mcpReq;
    const { engine, serving } = this;
    const caller = { engine, serving, revision: REVISION };
    const result = await traceMessage(caller, { method, id, params }, async () => {
      const answer = await this.shutdown.track(handle()).catch((error: unknown) => {
        noteRpcError();
        throw withFirstIssueOnly(error);
      });
      return linkTransform(serving.resourceLinks, clientNameOf(context.mcpReq.envelope))(answer);
    });
    if (method !== 'tools/call' || result['resultType'] !== 'task') return result;
    const { content: _content, ...task } = result;
    return task;
  }
}

const REVISION = '2026-07-28';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  operation: z.unknown().optional(),
  keep_alive_seconds: z.unknown().optional(),
});

type Params = Record<string, unknown>;

/** The handlers validate the params themselves. */
const anyParams = z.looseObject({});

/**
 * Creates the server for one exchange or connection.
 *
 * @param secret the key that all servers of a home share: seals the state that clients carry
 * @param connection the client's connection, if it outlives a request
 */
export function createCurrentServer(
  engine: Guard,
  serving: Serving,
  secret: Buffer,
  shutdown: Shutdown,
  connection?: Connection,
): Server {
  const { transport } = serving;
  const server = new CurrentServer(engine, shutdown, serving, SERVER_INFO, {
    capabilities: {
      tools: {},
      resources: { subscribe: true },
      extensions: { [TASKS_EXTENSION]: {} },
      ...OPT_IN_CAPABILITIES,
    },
    instructions: SERVER_INSTRUCTIONS,
  });
  const calls = new Calls(engine, transport, secret, shutdown, connection);
  // Our own schema, since the SDK's drops unknown fields. The SDK also validates requests against its own.
  server.setRequestHandler('tools/call', { params: callParams }, async (params, context) => {
    try {
      return await calls.call(params.name, params.arguments, params, context);
    } catch (error) {
      throw asProtocolError(error);
    }
  });
  const shared = sharedMethods<ServerContext>(engine, transport, (context) => viewerOf(context, transport));
  const handlers: Record<string, (params: Params, context: ServerContext) => Promise<object>> = {
    ...shared,
    'tools/list': async (params, context) => {
      const { tools, ...list } = (await shared['tools/list'](params, context)) as ListToolsResult;
      return {
        ...list,
        tools: withTaskSubstitutes(tools, clientOf(context)),
        // Varies by the request's capabilities (specs: 2026-07-28 server/utilities/caching).
        ttlMs: 0,
        cacheScope: 'private',
      };
    },
  };
  for (const [method, handle] of Object.entries(handlers))
    server.setRequestHandler(method, { params: anyParams, result: anyResult }, async (params, context) => {
      try {
        return { ...(await handle(params, context)) };
      } catch (error) {
        throw asProtocolError(error, { data: { uri: params['uri'] } });
      }
    });
  registerTasks(server, engine);
  const onlyFor = (
    optIn: keyof ExperimentalCapabilities,
    method: string,
    handle: (params: object) => Promise<object>,
  ) =>
    server.setRequestHandler(method, { params: anyParams, result: anyResult }, async (params, context) => {
      if (!clientOf(context)[optIn])
        throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
      return { resultType: 'complete', ...(await handle(params)) };
    });
  onlyFor('asyncTools', 'tools/async/status', (params) => operationStatus(engine, params));
  onlyFor('asyncTools', 'tools/async/result', (params) =>
    operationResult(engine, params, (result) => ({ resultType: 'complete', ...result })),
  );
  // Questions are fields of the result: only tools/call, prompts/get and resources/read may end with input_required (specs:
  // 2026-07-28 basic/patterns/mrtr, "Supported Requests").
  onlyFor('twoStage', POLL_METHOD, (params) => pollResult(engine, { ...params }));
  onlyFor('twoStage', CANCEL_METHOD, (params) => cancelJob(engine, { ...params }));
  return server;
}

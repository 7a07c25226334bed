/** Method handlers of MCP 2026-07-28. Each exchange or connection gets an SDK Server, which keeps no state. */
import {
  ProtocolError,
  ProtocolErrorCode,
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
import {
  SERVER_INFO,
  SERVER_INSTRUCTIONS,
  NO_PROMPTS,
  PROMPT_METHODS,
  unknownPrompt,
} from '../call/identity.js';
import { linkTransform } from '../links/links-as-text.js';
import { OPT_IN_CAPABILITIES, type ExperimentalCapabilities } from '../call/select-protocol.js';
import { assertNoCursor, withFirstIssueOnly } from '../call/params.js';
import { asProtocolError } from '../call/protocol-error.js';
import { readResource, RESOURCE_LIMIT_BYTES, resourceTemplates } from '../links/resources.js';
import type { Serving } from '../call/serving.js';
import { traceRequest, type TracedRequest } from '../call/trace-request.js';
import { knownToolName } from '../plain/builtin-tools.js';
import { Calls, type Connection } from './call.js';
import { clientOf, documentationFor, toolsFor } from './list.js';
import { problemsMeta } from '../listed-tools/listed-tool.js';

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
    const { logger, resourceLinks } = this.serving;
    const result = await traceRequest(this.#traced(method, params, context), logger, async () => {
      const answer = await this.shutdown.track(handle()).catch((error: unknown) => {
        noteRpcError();
        throw withFirstIssueOnly(error);
      });
      return linkTransform(resourceLinks, clientNameOf(context))(answer);
    });
    if (method !== 'tools/call' || result['resultType'] !== 'task') return result;
    const { content: _content, ...task } = result;
    return task;
  }

  #traced(method: string, params: unknown, { mcpReq }: ServerContext): TracedRequest {
    const { engine } = this;
    const { transport } = this.serving;
    const { name } = (params ?? {}) as { name?: unknown };
    return {
      ...{ method, transport, revision: REVISION, principal: engine.principal },
      id: mcpReq.id,
      meta: mcpReq._meta,
      tool: method === 'tools/call' ? knownToolName(engine, name) : undefined,
    };
  }
}

const REVISION = '2026-07-28';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  operation: z.unknown().optional(),
  keep_alive_seconds: z.unknown().optional(),
});

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
  server.setRequestHandler('tools/list', async ({ params }, context) => {
    assertNoCursor(params);
    await engine.tools.settled();
    return {
      tools: toolsFor(engine, clientOf(context), transport),
      // Varies by the request's capabilities (specs: 2026-07-28 server/utilities/caching).
      ttlMs: 0,
      cacheScope: 'private' as const,
      ...problemsMeta(engine),
    };
  });
  // Our own schema, since the SDK's drops unknown fields. The SDK also validates requests against its own.
  server.setRequestHandler('tools/call', { params: callParams }, async (params, context) => {
    try {
      return await calls.call(params.name, params.arguments, params, context);
    } catch (error) {
      throw asProtocolError(error);
    }
  });
  server.setRequestHandler('resources/list', ({ params }) => {
    assertNoCursor(params);
    return { resources: [] };
  });
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    assertNoCursor(params);
    return { resourceTemplates };
  });
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    try {
      return await readResource(engine, params.uri, RESOURCE_LIMIT_BYTES[transport], (tool) =>
        documentationFor(engine, tool, clientOf(context), transport),
      );
    } catch (error) {
      throw asProtocolError(error, { data: { uri: params.uri } });
    }
  });
  server.setRequestHandler('prompts/list', ({ params }) => {
    assertNoCursor(params);
    return NO_PROMPTS;
  });
  // Our own schema, since the SDK's answers a missing name with -32603.
  server.setRequestHandler('prompts/get', { params: anyParams }, (params) => {
    throw unknownPrompt(params['name']);
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

/** MCP of 2026-07-28. One Server of the SDK is made for each exchange; nothing sticks to it. */
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Engine } from '../../engine/index.js';
import type { Closing } from '../closing.js';
import { operationResult, operationStatus } from '../faces/sep-1391/index.js';
import { registerTasks } from '../faces/tasks-2026-07-28/handlers.js';
import { anyResult, clientNameOf, TASKS_EXTENSION } from '../faces/tasks-2026-07-28/schemas.js';
import { pollResult } from '../faces/two-stage/index.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS } from '../identity.js';
import { linksFor, type ResourceLinksSetting } from '../links-as-text.js';
import { echoOf, type OptIns } from '../opt-ins.js';
import { asProtocolError } from '../protocol-error.js';
import { readResource, RESOURCE_LIMIT_BYTES, resourceTemplates } from '../resources.js';
import type { Serving } from '../serving.js';
import { Calls, type Connection } from './call.js';
import { clientOf } from './client.js';
import { toolsFor } from './list.js';

/**
 * Results in the form that the client takes, and as the SDK wouldn't have them: it completes every result of a call to a CallToolResult, and a CreateTaskResult is
 * none and has no content; and what the server can do is the same for all clients, without an echo of their opt-ins.
 */
class CurrentServer extends Server {
  resourceLinks: ResourceLinksSetting = 'auto';

  protected override _wrapHandler(
    ...[method, handler]: Parameters<Server['_wrapHandler']>
  ): ReturnType<Server['_wrapHandler']> {
    const inner = super._wrapHandler(method, handler);
    const wrapped: typeof inner = async (request, context) =>
      linksFor(this.resourceLinks, clientNameOf(context))(await inner(request, context));
    if (method === 'server/discover') {
      return async (request, context) => {
        const result = await wrapped(request, context);
        return {
          ...result,
          capabilities: { ...(result['capabilities'] as object), ...echoOf(clientOf(context)) },
        };
      };
    }
    if (method !== 'tools/call') return wrapped;
    return async (request, context) => {
      const result = await wrapped(request, context);
      if (result['resultType'] !== 'task') return result;
      const { content: _content, ...task } = result;
      return task;
    };
  }
}

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  operation: z.unknown().optional(),
});

/**
 * A server for one exchange or connection.
 *
 * @param secret the key that all servers of a home share: seals what travels with the client
 * @param closing the end of the process
 * @param connection the client's own, where it has one that lasts beyond a request
 */
export function createCurrentServer(
  engine: Engine,
  principal: string,
  { transport, resourceLinks }: Serving,
  secret: Buffer,
  closing: Closing,
  connection?: Connection,
): Server {
  const server = new CurrentServer(SERVER_INFO, {
    capabilities: { tools: {}, resources: { subscribe: true }, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: SERVER_INSTRUCTIONS,
  });
  server.resourceLinks = resourceLinks;
  const calls = new Calls(engine, principal, transport, secret, closing, connection);
  server.setRequestHandler('tools/list', (_request, context) => ({
    tools: toolsFor(engine, clientOf(context), transport),
    // It varies by what the request declares (specs: 2026-07-28 server/utilities/caching).
    ttlMs: 0,
    cacheScope: 'private' as const,
  }));
  // With a schema of our own: the SDK's would drop `operation`. It checks the request against its own all the same.
  server.setRequestHandler('tools/call', { params: callParams }, async (params, context) => {
    try {
      return await calls.call(params.name, params.arguments, params.operation, context);
    } catch (error) {
      throw asProtocolError(error);
    }
  });
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', async ({ params }) => {
    try {
      return await readResource(engine, principal, params.uri, RESOURCE_LIMIT_BYTES[transport]);
    } catch (error) {
      throw asProtocolError(error, { data: { uri: params.uri } });
    }
  });
  registerTasks(server, engine, principal);
  /** A method that is there only for clients that opted in. */
  const onlyFor = (optIn: keyof OptIns, method: string, handle: (params: object) => Promise<object>) =>
    server.setRequestHandler(
      method,
      { params: z.looseObject({}), result: anyResult },
      async (params, context) => {
        if (!clientOf(context)[optIn])
          throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
        return { resultType: 'complete', ...(await handle(params)) };
      },
    );
  onlyFor('asyncTools', 'tools/async/status', (params) => operationStatus(engine, principal, params));
  onlyFor('asyncTools', 'tools/async/result', (params) =>
    operationResult(engine, principal, params, (result) => ({ resultType: 'complete', ...result })),
  );
  onlyFor('twoStage', 'tools/poll_result', (params) => pollResult(engine, principal, { ...params }));
  return server;
}

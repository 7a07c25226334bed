/** MCP of 2026-07-28. One Server of the SDK is made for each exchange; nothing sticks to it. */
import { Server, type CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import type { Closing } from '../closing.js';
import { registerTasks } from '../faces/tasks-2026-07-28/handlers.js';
import { capabilitiesOf, TASKS_EXTENSION } from '../faces/tasks-2026-07-28/schemas.js';
import { SERVER_INFO, SERVER_INSTRUCTIONS } from '../identity.js';
import { readResource, RESOURCE_LIMIT_BYTES, resourceTemplates } from '../resources.js';
import { Calls } from './call.js';
import { renderCallError, renderResourceError } from './errors.js';
import { toolsFor } from './list.js';

/** The SDK completes every result of a call to a CallToolResult; a CreateTaskResult is none and has no content. */
class CurrentServer extends Server {
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

/**
 * A server for one exchange or connection.
 *
 * @param secret the key that all servers of a home share: seals what travels with the client
 * @param closing the end of the process
 */
export function createCurrentServer(
  engine: Engine,
  principal: string,
  transport: 'http' | 'stdio',
  secret: Buffer,
  closing: Closing,
): Server {
  const server = new CurrentServer(SERVER_INFO, {
    capabilities: { tools: {}, resources: { subscribe: true }, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: SERVER_INSTRUCTIONS,
  });
  const calls = new Calls(engine, principal, secret, closing);
  server.setRequestHandler('tools/list', (_request, context) => ({
    tools: toolsFor(engine, capabilitiesOf(context)),
    // It varies by what the request declares (specs: 2026-07-28 server/utilities/caching).
    ttlMs: 0,
    cacheScope: 'private' as const,
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    try {
      return (await calls.call(params.name, params.arguments ?? {}, context)) as CallToolResult;
    } catch (error) {
      throw renderCallError(error);
    }
  });
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', async ({ params }) => {
    try {
      return await readResource(engine, principal, params.uri, RESOURCE_LIMIT_BYTES[transport]);
    } catch (error) {
      throw renderResourceError(error, params.uri);
    }
  });
  registerTasks(server, engine, principal);
  return server;
}

/** The client capabilities in the current request. */
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { missingTasksCapability } from './tasks/render.js';
import { declaredCapabilities } from './tasks/schemas.js';
import { experimentalCapabilitiesOf, type Client } from '../shared/select-protocol.js';

export interface CurrentClient extends Client {
  elicitation: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that isn't an object */
export function clientOf({ mcpReq }: ServerContext): CurrentClient {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  const { tasks, elicitation } = declaredCapabilities(capabilities);
  return {
    ...experimentalCapabilitiesOf(capabilities),
    tasks: tasks ? 'extension' : 'none',
    needsTasks: missingTasksCapability,
    elicitation,
  };
}

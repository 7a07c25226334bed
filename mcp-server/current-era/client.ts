/** What the request that is being handled says of its client, as far as it decides what the client gets. */
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { missingTasksCapability } from '../faces/tasks-2026-07-28/render.js';
import { declaredCapabilities } from '../faces/tasks-2026-07-28/schemas.js';
import { optInsOf } from '../opt-ins.js';
import type { Client } from '../which-face.js';

export interface CurrentClient extends Client {
  /** Can it show forms? */
  elicitation: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that is no object */
export function clientOf({ mcpReq }: ServerContext): CurrentClient {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  const { tasks, elicitation } = declaredCapabilities(capabilities);
  return {
    ...optInsOf(capabilities),
    tasks: tasks ? 'extension' : 'none',
    needsTasks: missingTasksCapability,
    elicitation,
  };
}

/** What requests of this face look like, as far as the SDK doesn't know them. Unknown fields are let through. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { showsForms } from '../../shared/elicitation.js';

/** The extension's identifier (specs: ext-tasks, "Extension Identifier"). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const taskId = z.string().min(1).max(1000);

export const taskParams = z.looseObject({ taskId });

/** Any result: these methods' results are made by `render.ts`. */
export const anyResult = z.looseObject({});

export interface DeclaredCapabilities {
  tasks: boolean;
  elicitation: boolean;
}

/** What the request's own capabilities say (specs: ext-tasks, "Capability Negotiation": per request). */
export function declaredCapabilities(capabilities: unknown): DeclaredCapabilities {
  const { extensions, elicitation } = (capabilities ?? {}) as {
    extensions?: Record<string, unknown>;
    elicitation?: unknown;
  };
  return { tasks: extensions?.[TASKS_EXTENSION] !== undefined, elicitation: showsForms(elicitation) };
}

/** What the request being handled declares. */
export function capabilitiesOf({ mcpReq }: ServerContext): DeclaredCapabilities {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  return declaredCapabilities(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** What the client that makes the request calls itself. */
export function clientNameOf({ mcpReq }: ServerContext): string | undefined {
  return nameIn(mcpReq.envelope);
}

/** @param meta a request's `_meta` */
export function nameIn(meta: Record<string, unknown> | undefined): string | undefined {
  const { name } = (meta?.[CLIENT_INFO_META_KEY] ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

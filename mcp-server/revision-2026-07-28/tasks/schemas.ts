/** Schemas of task requests, which the SDK doesn't have. Unknown fields are ignored. */
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

/** Accepts any result: `render.ts` makes the results of these methods. */
export const anyResult = z.looseObject({});

export interface DeclaredCapabilities {
  tasks: boolean;
  elicitation: boolean;
}

/** Capabilities declared by a request (specs: ext-tasks, "Capability Negotiation": per request). */
export function declaredCapabilities(capabilities: unknown): DeclaredCapabilities {
  const { extensions, elicitation } = (capabilities ?? {}) as {
    extensions?: Record<string, unknown>;
    elicitation?: unknown;
  };
  return { tasks: extensions?.[TASKS_EXTENSION] !== undefined, elicitation: showsForms(elicitation) };
}

/** Capabilities declared by the request being handled. */
export function capabilitiesOf({ mcpReq }: ServerContext): DeclaredCapabilities {
  return declaredCapabilitiesIn(mcpReq.envelope);
}

/** @param meta a request's `_meta` */
export function declaredCapabilitiesIn(meta: Record<string, unknown> | undefined): DeclaredCapabilities {
  return declaredCapabilities(meta?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** `clientInfo.name` of the request being handled. */
export function clientNameOf({ mcpReq }: ServerContext): string | undefined {
  return clientNameIn(mcpReq.envelope);
}

/** @param meta a request's `_meta` */
export function clientNameIn(meta: Record<string, unknown> | undefined): string | undefined {
  const { name } = (meta?.[CLIENT_INFO_META_KEY] ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

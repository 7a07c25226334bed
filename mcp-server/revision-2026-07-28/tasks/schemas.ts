/** Schemas of task requests, which the SDK lacks. They ignore unknown fields. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { showsForms } from '../../call/elicitation.js';

/** The extension's identifier (specs: ext-tasks, "Extension Identifier"). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const taskId = z.string().min(1).max(1000);

export const taskParams = z.looseObject({ taskId });

/** Accepts any result, since `render.ts` makes them. */
export const anyResult = z.looseObject({});

export interface DeclaredCapabilities {
  tasks: boolean;
  elicitation: boolean;
}

/** Capabilities are declared per request (specs: ext-tasks, "Capability Negotiation"). */
export function declaredCapabilities(capabilities: unknown): DeclaredCapabilities {
  const { extensions, elicitation } = (capabilities ?? {}) as {
    extensions?: Record<string, unknown>;
    elicitation?: unknown;
  };
  return { tasks: extensions?.[TASKS_EXTENSION] !== undefined, elicitation: showsForms(elicitation) };
}

export function capabilitiesOf({ mcpReq }: ServerContext): DeclaredCapabilities {
  return declaredCapabilitiesIn(mcpReq.envelope);
}

/** @param meta a request's `_meta` */
export function declaredCapabilitiesIn(meta: Record<string, unknown> | undefined): DeclaredCapabilities {
  return declaredCapabilities(meta?.[CLIENT_CAPABILITIES_META_KEY]);
}

export function clientNameOf({ mcpReq }: ServerContext): string | undefined {
  return clientNameIn(mcpReq.envelope);
}

/** @param meta a request's `_meta` */
export function clientNameIn(meta: Record<string, unknown> | undefined): string | undefined {
  const { name } = (meta?.[CLIENT_INFO_META_KEY] ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

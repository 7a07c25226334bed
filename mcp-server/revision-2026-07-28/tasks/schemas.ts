/** Schemas of task requests, which the SDK lacks. They ignore unknown fields. */
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
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

/** Capabilities are declared per request (specs: ext-tasks, "Capability Negotiation"). @param meta a request's `_meta` */
export function capabilitiesOf(meta: Record<string, unknown> | undefined): DeclaredCapabilities {
  const { extensions, elicitation } = (meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as {
    extensions?: Record<string, unknown>;
    elicitation?: unknown;
  };
  return { tasks: extensions?.[TASKS_EXTENSION] !== undefined, elicitation: showsForms(elicitation) };
}

/** @param meta a request's `_meta` */
export function clientNameOf(meta: Record<string, unknown> | undefined): string | undefined {
  const { name } = (meta?.[CLIENT_INFO_META_KEY] ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

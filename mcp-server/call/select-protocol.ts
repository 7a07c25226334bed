/** Selects the protocol that answers a call, and the protocol that lists the tools. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Tool } from '../../operations/tool/index.js';
import { invalidParams } from './protocol-error.js';
import { isObject } from '../../operations/json/is-object.js';

export interface ExperimentalCapabilities {
  /** Operation tokens (SEP-1391). */
  asyncTools: boolean;
  /** Two-stage returns. */
  twoStage: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that isn't an object */
export function experimentalCapabilitiesOf(capabilities: unknown): ExperimentalCapabilities {
  const { experimental } = (capabilities ?? {}) as { experimental?: unknown };
  const declared = isObject(experimental) ? experimental : {};
  const has = (name: keyof ExperimentalCapabilities): boolean => {
    const value = declared[name];
    if (value === undefined || isObject(value)) return value !== undefined;
    throw invalidParams(
      `capabilities.experimental.${name}: expected an object, {} to opt in; got ${JSON.stringify(value)}`,
    );
  };
  return { asyncTools: has('asyncTools'), twoStage: has('twoStage') };
}

/**
 * The server's own capabilities, the same for all clients: a client must see the opt-ins before it can opt in (specs: 2025-11-25
 * basic/lifecycle, "Capability Negotiation"; 2026-07-28 server/discover).
 */
export const OPT_IN_CAPABILITIES: {
  experimental: Record<keyof ExperimentalCapabilities, Record<string, never>>;
} = {
  experimental: { asyncTools: {}, twoStage: {} },
};

/** `operation`: SEP-1391. `task`: the tasks of the client's revision. */
export type CallProtocol = 'operation' | 'task' | 'two-stage' | 'plain';

export interface Client extends ExperimentalCapabilities {
  /** Whether its calls become tasks automatically (2026-07-28), by a field of the call (2025-11-25), or never. */
  tasks: 'extension' | 'field' | 'none';
  /** Its revision's error for a plain call of a tool that requires tasks. Absent for versions without tasks. */
  needsTasks?: (tool: Tool) => ProtocolError;
}

/** Fields that select a call's protocol. */
export interface CallFields {
  operation?: unknown;
  task?: unknown;
}

/**
 * Selects in this order: the call's own field, the opt-ins, the tasks extension, the plain contract.
 *
 * @param tool undefined for Longhaul's own tools, which answer at once in every protocol
 * @throws ProtocolError -32600, -32601, -32602, or `needsTasks`'s error, for a call that no protocol may answer
 */
export function selectProtocol(
  tool: Tool | undefined,
  { operation, task }: CallFields,
  client: Client,
): CallProtocol {
  const isTask = client.tasks === 'field' && task !== undefined;
  if (operation !== undefined) {
    assertOperation(tool, isTask, client);
    return 'operation';
  }
  if (isTask) {
    if (alwaysWaits(tool))
      throw new ProtocolError(
        ProtocolErrorCode.MethodNotFound,
        `the tool${tool ? ` ${tool.name}` : ''} can't be called as a task`,
      );
    return 'task';
  }
  if (!tool || alwaysWaits(tool)) return 'plain';
  if (client.asyncTools) return 'operation';
  if (client.twoStage) return 'two-stage';
  if (client.tasks === 'extension') return 'task';
  assertPlain(tool, client);
  return 'plain';
}

/** Selects as for a call without fields. */
export function selectListProtocol({ asyncTools, twoStage, tasks }: Client): CallProtocol {
  if (asyncTools) return 'operation';
  if (twoStage) return 'two-stage';
  return tasks === 'extension' ? 'task' : 'plain';
}

/** Lists a tool unless the client can't call it. */
export function isListed({ taskSupport, withoutTasks }: Tool, client: Client): boolean {
  if (selectListProtocol(client) !== 'plain' || taskSupport !== 'required' || withoutTasks === 'plain')
    return true;
  if (withoutTasks === 'hidden') return false;
  return client.tasks === 'field' || client.needsTasks === undefined;
}

/** Whether every call of the tool waits for the result, as with Longhaul's own tools. */
function alwaysWaits(tool: Tool | undefined): boolean {
  return tool === undefined || tool.taskSupport === 'forbidden';
}

function assertOperation(tool: Tool | undefined, isTask: boolean, client: Client): void {
  if (!client.asyncTools)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      'params.operation: for clients that declare the capability experimental.asyncTools; this one does not',
    );
  if (isTask) throw invalidParams('params.operation, params.task: expected one of the two; got both');
  if (alwaysWaits(tool))
    throw invalidParams(
      `params.operation: the tool${tool ? ` ${tool.name}` : ''} is sync only; call it without`,
    );
}

function assertPlain(tool: Tool, client: Client): void {
  if (tool.taskSupport !== 'required' || tool.withoutTasks === 'plain') return;
  if (tool.withoutTasks === 'hidden')
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `the tool ${tool.name} is long-running, and this client declares no capability to follow it ` +
        `(experimental.asyncTools, experimental.twoStage, tasks)`,
    );
  if (client.needsTasks) throw client.needsTasks(tool);
}

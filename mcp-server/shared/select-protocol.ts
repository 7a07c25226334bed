/** Who gets which: the one place that decides which face answers a call, and which one lists the tools. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Tool } from '../../operations/tool.js';
import type { ExperimentalCapabilities } from './experimental-capabilities.js';

/** `operation`: a token of SEP-1391. `task`: the tasks of the client's era. */
export type CallProtocol = 'operation' | 'task' | 'two-stage' | 'plain';

export interface Client extends ExperimentalCapabilities {
  /** Do its calls become tasks by themselves (2026-07-28), by a field of theirs (2025-11-25), or never? */
  tasks: 'extension' | 'field' | 'none';
  /** How its version refuses a plain call of a tool that needs tasks; missing for versions that know no tasks. */
  needsTasks?: (tool: Tool) => ProtocolError;
}

/** Fields by which a call says itself what it wants. */
export interface CallFields {
  operation?: unknown;
  task?: unknown;
}

/**
 * In this order: the call's own field, the opt-ins, the tasks extension, the plain contract.
 *
 * @param tool undefined for tools about operations, which answer at once on every face
 * @throws ProtocolError -32600, -32601, -32602, or what `needsTasks` gives, for a call that no face may answer
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

/** Which face lists the tools: the one that a call without fields would get. */
export function selectListProtocol({ asyncTools, twoStage, tasks }: Client): CallProtocol {
  if (asyncTools) return 'operation';
  if (twoStage) return 'two-stage';
  return tasks === 'extension' ? 'task' : 'plain';
}

/** Is a tool listed for this client? One that it can't call is not. */
export function isListed({ taskSupport, withoutTasks }: Tool, client: Client): boolean {
  if (selectListProtocol(client) !== 'plain' || taskSupport !== 'required' || withoutTasks === 'plain')
    return true;
  if (withoutTasks === 'hidden') return false;
  return client.tasks === 'field' || client.needsTasks === undefined;
}

/** Does every call of it wait for the result? So do those of tools about operations. */
function alwaysWaits(tool: Tool | undefined): boolean {
  return tool === undefined || tool.taskSupport === 'forbidden';
}

function assertOperation(tool: Tool | undefined, isTask: boolean, client: Client): void {
  if (!client.asyncTools)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      'params.operation: for clients that declare the capability experimental.asyncTools; this one does not',
    );
  if (isTask) throw invalid('params.operation, params.task: expected one of the two; got both');
  if (alwaysWaits(tool))
    throw invalid(`params.operation: the tool${tool ? ` ${tool.name}` : ''} is sync only; call it without`);
}

function assertPlain(tool: Tool, client: Client): void {
  if (tool.taskSupport !== 'required' || tool.withoutTasks === 'plain') return;
  if (tool.withoutTasks === 'hidden')
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `the tool ${tool.name} runs for long, and this client declares nothing by which it could follow it ` +
        `(experimental.asyncTools, experimental.twoStage, tasks)`,
    );
  if (client.needsTasks) throw client.needsTasks(tool);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

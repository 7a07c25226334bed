/** The session's client, as far as it decides its calls' protocol and its list of tools. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Tool } from '../../operations/tool.js';
import type { Client } from '../shared/select-protocol.js';
import { featuresOf, type Session } from './session.js';

export function clientOf(session: Session): Client {
  const { asyncTools, twoStage, version } = session;
  return featuresOf(version).tasks
    ? { asyncTools, twoStage, tasks: 'field', needsTasks }
    : { asyncTools, twoStage, tasks: 'none' };
}

/** -32601 (specs: 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation"). */
function needsTasks({ name }: Tool): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, `the tool ${name} can only be called as a task`);
}

/** tools/list: the tools listed for a session's client. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools, documentationOf } from '../plain/builtin-tools.js';
import { documentPlainTool, plainTools } from '../plain/list.js';
import { asyncTools, documentAsyncTool, syncTool } from '../sep-1391/list.js';
import type { DocumentTool } from '../listed-tools/listed-tool.js';
import { isListed, selectListProtocol, type CallProtocol, type Client } from '../call/select-protocol.js';
import { documentTwoStageTool, twoStageTools } from '../two-stage/list.js';
import { featuresOf, type Session } from './session.js';
import type { Tool } from '../../operations/tool/index.js';

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

/** In the form of the session's protocol, with `execution.taskSupport` if the version has tasks. */
export function listTools(engine: Guard, session: Session): object[] {
  const client = clientOf(session);
  const protocol = selectListProtocol(client);
  const { tasks } = featuresOf(session.version);
  const long = { operation: asyncTools, 'two-stage': twoStageTools, task: plainTools, plain: plainTools }[
    protocol
  ];
  const about = [...builtinTools(engine).values()].map(renderBuiltinTool);
  return [
    ...(long(engine, 'notification') as { name: string }[]).flatMap((listed) => {
      const tool = engine.tools.get(listed.name);
      if (tool && !isListed(tool, client)) return [];
      return [tool && tasks ? { ...listed, execution: { taskSupport: tool.taskSupport } } : listed];
    }),
    ...(protocol === 'operation' ? about.map(syncTool) : about),
  ];
}

/** Each protocol's part of a tool's documentation. Clients with tasks list the plain tools too. */
const DOCUMENTS: Record<CallProtocol, DocumentTool> = {
  operation: documentAsyncTool,
  'two-stage': documentTwoStageTool,
  task: documentPlainTool,
  plain: documentPlainTool,
};

/** @throws LonghaulError `unknown_tool` */
export function documentationFor(engine: Guard, name: string, session: Session): string {
  const client = clientOf(session);
  return documentationOf(engine, name, {
    document: DOCUMENTS[selectListProtocol(client)],
    cancelledBy: 'notification',
    isListed: (tool) => isListed(tool, client),
    listedNames: () => listedNames(engine, session),
  });
}

export function listedNames(engine: Guard, session: Session): string[] {
  return (listTools(engine, session) as { name: string }[]).map(({ name }) => name);
}

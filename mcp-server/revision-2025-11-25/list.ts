/** tools/list: the tools listed for a session's client. */
import type { Engine } from '../../engine/index.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { plainTools } from '../plain/index.js';
import { asyncTools, syncTool } from '../sep-1391/index.js';
import { isListed, selectListProtocol } from '../shared/select-protocol.js';
import { twoStageTools } from '../two-stage/index.js';
import { clientOf } from './client.js';
import { featuresOf, type Session } from './session.js';

/** The tools in the form of the session's protocol, with `execution.taskSupport` if the version has tasks. */
export function listTools(engine: Engine, session: Session): object[] {
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

/** Names of the tools listed for the session. */
export function listedNames(engine: Engine, session: Session): string[] {
  return (listTools(engine, session) as { name: string }[]).map(({ name }) => name);
}

/** tools/list and tools/call: which face a call gets (the call's own `task` field decides), and what is listed. */
import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Engine } from '../../engine/index.js';
import { plainTools } from '../faces/plain/index.js';
import { startTask } from '../faces/tasks-2025-11-25/handlers.js';
import { parseParams } from '../faces/tasks-2025-11-25/schemas.js';
import { renderOwnTool } from '../own-tool.js';
import { ownTools } from '../own-tools.js';
import type { OlderEra } from './context.js';
import { callLongTool, callOwnTool } from './plain-waits.js';
import { featuresOf, tasksOf, type Session, type VersionFeatures } from './session.js';
import type { CallStream } from './waits.js';
import { withCaller } from './with-caller.js';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  task: z.unknown().optional(),
});

/** The tools, in the plain form; that a call may become a task is said where the version has tasks. */
export function listTools(engine: Engine, { tasks }: VersionFeatures): object[] {
  const long = plainTools(engine).map((tool) => {
    const taskSupport = engine.tools.get(tool.name)?.taskSupport;
    return { ...tool, ...(tasks && taskSupport ? { execution: { taskSupport } } : {}) };
  });
  return [...long, ...[...ownTools(engine).values()].map(renderOwnTool)];
}

/**
 * Calls a tool: a task when the call asks for one, else plainly.
 *
 * @throws ProtocolError -32602 for wrong params, -32601 for a tool that can't or must be a task
 */
export async function callTool(
  era: OlderEra,
  session: Session,
  params: Record<string, unknown>,
  stream: CallStream,
): Promise<object> {
  const { name, arguments: args, task } = parseParams(callParams, params);
  const features = featuresOf(session.version);
  const own = ownTools(era.engine).get(name);
  const tool = own ? undefined : era.engine.tool(name);
  const isTask = features.tasks && task !== undefined;
  const taskSupport = tool?.taskSupport ?? 'forbidden';
  if (isTask && taskSupport === 'forbidden') throw notThisWay(`the tool ${name} can't be called as a task`);
  if (features.tasks && !isTask && taskSupport === 'required')
    throw notThisWay(`the tool ${name} can only be called as a task`);
  return withCaller(era, session, stream, async (caller) => {
    if (isTask && tool) {
      const tasks = tasksOf(session);
      const { progressToken } = stream.position;
      const owner = { ...caller, session: tasks };
      const created = await startTask(era.engine, tool, args, task, owner, session, progressToken);
      era.notifications.started(tasks, created.task.taskId);
      return created;
    }
    const result = tool
      ? await callLongTool(era.engine, tool, args, caller, stream)
      : await callOwnTool(era.engine, own!, args, caller, stream);
    return readable(result, features);
  });
}

/** -32601 (specs: 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation"). */
function notThisWay(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, message);
}

/** Links to resources become text for versions that don't know them. */
export function readable(result: CallToolResult, { resourceLinks }: VersionFeatures): CallToolResult {
  if (resourceLinks || !result.content.some(({ type }) => type === 'resource_link')) return result;
  return {
    ...result,
    content: result.content.map((block) =>
      block.type === 'resource_link' ? { type: 'text', text: `${block.name}: ${block.uri}` } : block,
    ),
  };
}

/** tools/list and tools/call: selects the protocol of a call and passes it the parameters of this revision. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Engine } from '../../engine/index.js';
import type { Tool } from '../../operations/tool.js';
import { plainTools } from '../plain/index.js';
import { asyncTools, parseOperationField, startOperation, syncTool } from '../sep-1391/index.js';
import { startTask } from './tasks/handlers.js';
import { parseKeepAlive, startJob, twoStageTools } from '../two-stage/index.js';
import { withKeyOfMeta } from '../shared/idempotency-key.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { parseParams } from '../shared/params.js';
import { faceOf, isShown, listingFaceOf, type Client } from '../shared/select-protocol.js';
import type { LegacyContext } from './context.js';
import { callLongTool, callBuiltinTool } from './plain-waits.js';
import { featuresOf, jobScope, operationScope, taskScope, type Session } from './session.js';
import type { CallStream } from './waits.js';
import { withCaller } from './with-caller.js';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  _meta: z.unknown().optional(),
  task: z.unknown().optional(),
  operation: z.unknown().optional(),
  keep_alive_seconds: z.unknown().optional(),
});

/** The session's properties that decide the protocol of its calls. */
function clientOf(session: Session): Client {
  const { asyncTools, twoStage, version } = session;
  return featuresOf(version).tasks
    ? { asyncTools, twoStage, tasks: 'field', needsTasks }
    : { asyncTools, twoStage, tasks: 'none' };
}

/** -32601 (specs: 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation"). */
function needsTasks({ name }: Tool): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, `the tool ${name} can only be called as a task`);
}

/** The tools in the form of the session's protocol, with `execution.taskSupport` if the version has tasks. */
export function listTools(engine: Engine, session: Session): object[] {
  const client = clientOf(session);
  const face = listingFaceOf(client);
  const { tasks } = featuresOf(session.version);
  const long = { operation: asyncTools, 'two-stage': twoStageTools, task: plainTools, plain: plainTools }[
    face
  ];
  const about = [...builtinTools(engine).values()].map(renderBuiltinTool);
  return [
    ...(long(engine, 'notification') as { name: string }[]).flatMap((listed) => {
      const tool = engine.tools.get(listed.name);
      if (tool && !isShown(tool, client)) return [];
      return [tool && tasks ? { ...listed, execution: { taskSupport: tool.taskSupport } } : listed];
    }),
    ...(face === 'operation' ? about.map(syncTool) : about),
  ];
}

function namesFor(engine: Engine, session: Session): string[] {
  return (listTools(engine, session) as { name: string }[]).map(({ name }) => name);
}

/**
 * Calls a tool by the protocol selected for the call.
 *
 * @throws ProtocolError -32602 for wrong params, and as {@link withKeyOfMeta} and {@link faceOf}
 */
export async function callTool(
  context: LegacyContext,
  session: Session,
  params: Record<string, unknown>,
  stream: CallStream,
): Promise<object> {
  const parsed = parseParams(callParams, params);
  const { name, task, operation } = parsed;
  const { principal } = session;
  const { requestId, progressToken } = stream.position;
  const own = builtinTools(context.engine).get(name);
  const tool = own ? undefined : context.engine.tool(name, () => namesFor(context.engine, session));
  const args = withKeyOfMeta(parsed.arguments, parsed._meta, own);
  const face = faceOf(tool, { operation, task }, clientOf(session));
  if (tool && face === 'operation') {
    const field = parseOperationField(operation);
    const listed = operationScope(session);
    const caller = {
      principal,
      session: listed,
      requestId,
      ...(progressToken === undefined ? {} : { progressToken }),
    };
    return context.cancellations.track(listed, requestId, (started) =>
      startOperation(context.engine, tool, args, field, caller, (token) => {
        started(token);
        // After the answer has been sent: before it the client may not know the token.
        setImmediate(() => context.notifier.started(listed, token));
      }),
    );
  }
  if (tool && face === 'two-stage') {
    const listed = jobScope(session);
    const caller = { principal, session: listed, ...(progressToken === undefined ? {} : { progressToken }) };
    const options = { keepAliveSeconds: parseKeepAlive(parsed.keep_alive_seconds) };
    return startJob(context.engine, tool, args, options, caller, (jobId) =>
      context.notifier.started(listed, jobId),
    );
  }
  return withCaller(context, session, stream, async (caller) => {
    if (tool && face === 'task') {
      const tasks = taskScope(session);
      const owner = { ...caller, session: tasks };
      const created = await startTask(context.engine, tool, args, task, owner, session, progressToken);
      context.notifier.started(tasks, created.task.taskId);
      return created;
    }
    return tool
      ? await callLongTool(context.engine, tool, args, caller, stream)
      : await callBuiltinTool(context.engine, own!, args, caller, stream);
  });
}

/** tools/call: selects the protocol of a call and passes it this revision's parameters. */
import { z } from 'zod';
import { parseOperationField } from '../sep-1391/schemas.js';
import { startOperation } from '../sep-1391/handlers.js';
import { startTask } from './tasks/handlers.js';
import { parseKeepAlive } from '../two-stage/schemas.js';
import { startJob } from '../two-stage/handlers.js';
import { withKeyOfMeta } from '../call/idempotency-key.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { parseParams } from '../call/params.js';
import { selectProtocol } from '../call/select-protocol.js';
import { clientOf, listedNames } from './list.js';
import type { LegacyContext, CallStream } from './context.js';
import { callLongTool, callBuiltinTool, withCallContext } from './plain-waits.js';
import { jobScope, operationScope, taskScope, type Session } from './session.js';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  _meta: z.unknown().optional(),
  task: z.unknown().optional(),
  operation: z.unknown().optional(),
  keep_alive_seconds: z.unknown().optional(),
});

/** @throws ProtocolError -32602 for wrong params, and as {@link withKeyOfMeta} and {@link selectProtocol} */
export async function callTool(
  context: LegacyContext,
  session: Session,
  params: Record<string, unknown>,
  stream: CallStream,
): Promise<object> {
  const parsed = parseParams(callParams, params);
  const { name, task, operation } = parsed;
  const { requestId, progressToken } = stream.position;
  const own = builtinTools(context.engine).get(name);
  const tool = own ? undefined : context.engine.tool(name, () => listedNames(context.engine, session));
  const args = withKeyOfMeta(parsed.arguments, parsed._meta, own);
  const protocol = selectProtocol(tool, { operation, task }, clientOf(session));
  if (tool && protocol === 'operation') {
    const field = parseOperationField(operation);
    const listed = operationScope(session);
    const caller = { session: listed, requestId, progressToken };
    return context.cancellations.track(listed, requestId, (started) =>
      startOperation(context.engine, tool, args, field, caller, (token) => {
        started(token);
        // Waits until the answer was sent: before that the client may not know the token.
        setImmediate(() => context.notifier.onStarted(listed, token));
      }),
    );
  }
  if (tool && protocol === 'two-stage') {
    const listed = jobScope(session);
    const caller = { session: listed, progressToken };
    const options = { keepAliveSeconds: parseKeepAlive(parsed.keep_alive_seconds) };
    return startJob(context.engine, tool, args, options, caller, (jobId) =>
      context.notifier.onStarted(listed, jobId),
    );
  }
  return withCallContext(context, session, stream, async (caller) => {
    if (tool && protocol === 'task') {
      const tasks = taskScope(session);
      const owner = { ...caller, session: tasks };
      const created = await startTask(context.engine, tool, args, task, owner, session, progressToken);
      context.notifier.onStarted(tasks, created.task.taskId);
      return created;
    }
    return tool
      ? await callLongTool(context.engine, tool, args, caller, stream)
      : await callBuiltinTool(context.engine, own!, args, caller, stream);
  });
}

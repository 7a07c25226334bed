/** tools/call: selects the protocol of a call and passes it this revision's parameters. */
import { z } from 'zod';
import { parseOperationField } from '../sep-1391/schemas.js';
import { startOperation } from '../sep-1391/handlers.js';
import { startTask } from './tasks/handlers.js';
import { parseKeepAlive } from '../two-stage/schemas.js';
import { startJob } from '../two-stage/handlers.js';
import { withKeyOfMeta } from '../call/idempotency-key.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { callPlainTool } from '../plain/handlers.js';
import { parseParams } from '../call/params.js';
import { selectProtocol } from '../call/select-protocol.js';
import { listedNames } from '../revisions/methods.js';
import type { LegacyContext, CallStream } from './context.js';
import { continuationOn, resultOf, withCallContext } from './plain-waits.js';
import { scopeOf, viewerOf, type Session } from './session.js';

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
  const viewer = viewerOf(session);
  const own = builtinTools(context.engine).get(name);
  const tool = own ? undefined : context.engine.tool(name, () => listedNames(context.engine, viewer));
  const args = withKeyOfMeta(parsed.arguments, parsed._meta, own);
  const protocol = selectProtocol(tool, { operation, task }, viewer.client);
  if (tool && protocol === 'operation') {
    const field = parseOperationField(operation);
    const listed = scopeOf(session, 'operations');
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
    const listed = scopeOf(session, 'jobs');
    return startJob(context.engine, tool, args, {
      keepAliveSeconds: parseKeepAlive(parsed.keep_alive_seconds),
      session: listed,
      progressToken,
      onStarted: (jobId) => context.notifier.onStarted(listed, jobId),
    });
  }
  if (tool && protocol === 'task') {
    const listed = scopeOf(session, 'tasks');
    const options = { field: task, session: listed, progressToken };
    const created = await startTask(context.engine, tool, args, options, session);
    context.notifier.onStarted(listed, created.task.taskId);
    return created;
  }
  return withCallContext(context, session, stream, async (caller) => {
    const continued = { ...caller, onContinuation: continuationOn(stream) };
    return resultOf(() =>
      tool
        ? callPlainTool(context.engine, tool, args, continued)
        : own!.call(context.engine, continued, args),
    );
  });
}

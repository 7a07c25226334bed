/** Plain calls that wait. The operation starts first, and its token lets any process resume an interrupted stream. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import type { Progress } from '../../operations/record.js';
import type { CallContext, ContinuedCall } from '../call/call-context.js';
import { resumeWait, withErrorResult, type PlainOutcome } from '../plain/handlers.js';
import { builtinTools } from '../plain/builtin-tools.js';
import type { Session } from './session.js';
import type { CallStream, Wait, LegacyContext } from './context.js';
import { Questions } from './questions.js';

/** Longest arguments of a built-in tool in an event ID, in characters of JSON. */
const LONGEST_ARGUMENTS = 2_000;
/** Shortest valid wait, in seconds. Used once the budget has ended. */
const SHORTEST_WAIT_SECONDS = 0.001;

/** Stores in the stream's position how to continue a call if the stream is resumed, and sends the position to the client. */
export function continuationOn(stream: CallStream) {
  return ({ timeoutSeconds, ...call }: ContinuedCall): void => {
    const budgetEndsAt = Date.now() + timeoutSeconds * 1000;
    if ('token' in call) stream.position.wait = { kind: 'plain', ...call, budgetEndsAt };
    else if (JSON.stringify(call.args).length <= LONGEST_ARGUMENTS)
      stream.position.wait = { kind: 'own', ...call, budgetEndsAt };
    else return;
    stream.mark();
  };
}

/** Waits for an operation, from its start or where another process stopped waiting. */
export function waitOn(
  engine: Guard,
  wait: Exclude<Wait, { kind: 'task' }>,
  callContext: CallContext,
): Promise<CallToolResult> {
  const timeout = Math.max(SHORTEST_WAIT_SECONDS, (wait.budgetEndsAt - Date.now()) / 1000);
  return resultOf(async () => {
    if (wait.kind === 'own') {
      const args = { ...wait.args, [wait.timeoutArgument]: timeout };
      const continued = { ...callContext, isContinued: true };
      return builtinTools(engine).get(wait.tool)!.call(engine, continued, args);
    }
    const { tool } = await engine.read(wait.token);
    return resumeWait(engine, engine.tool(tool), wait.token, timeout, callContext);
  });
}

/** Calls of this revision never end with a question, since they have streams for questions. */
export async function resultOf(call: () => Promise<PlainOutcome>): Promise<CallToolResult> {
  const outcome = await withErrorResult(call);
  if ('question' in outcome) throw new Error('a call of this revision ended with a question');
  return outcome;
}

/** Runs `call` with a context that sends progress and questions on the stream. */
export async function withCallContext<T>(
  context: LegacyContext,
  session: Session,
  stream: CallStream,
  call: (callContext: CallContext) => Promise<T>,
): Promise<T> {
  const { nonce, elicitation, clientName } = session;
  const { signal, position } = stream;
  const { progressToken } = position;
  const by = position.wait?.kind === 'task' ? 'task' : 'call';
  const questions = elicitation ? new Questions(context, session, stream, by) : undefined;
  const onProgress = async (progress: Progress) => {
    if (progress.progress <= (position.progress ?? -1)) return;
    position.progress = progress.progress;
    await stream.send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, ...progress },
    });
  };
  try {
    return await call({
      session: nonce,
      signal,
      shutdown: context.shutdown,
      clientName,
      ...(progressToken === undefined ? {} : { onProgress }),
      ...(questions ? { questions: { kind: 'stream', show: (record) => questions.show(record) } } : {}),
    });
  } finally {
    questions?.close();
  }
}

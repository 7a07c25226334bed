/** The {@link CallContext} of a call on a stream of this revision. */
import type { Progress } from '../../operations/record.js';
import type { CallContext } from '../shared/call-context.js';
import type { LegacyContext, CallStream } from './context.js';
import { Questions } from './questions.js';
import type { Session } from './session.js';

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

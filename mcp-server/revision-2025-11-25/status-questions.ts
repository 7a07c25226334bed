/**
 * Questions of SEP-1391 operations on the streams of tools/async/status, and of two-stage jobs on the streams of tools/poll_result,
 * for sessions without a stream of their own. Clients poll repeatedly while a user needs time, so each question has a back-off.
 * Each process keeps its own: another one may show the question again, and the first answer counts.
 */
import type { OperationRecord } from '../../operations/record.js';
import type { LegacyContext, CallStream } from './context.js';
import { questionId, Questions } from './questions.js';
import { jobScope, operationScope, type Session } from './session.js';

/** Back-off after a question was shown, in milliseconds. Doubles each time. */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;

/** Shows an operation's or job's open questions that no other stream shows, and those with a refused answer. */
export async function showQuestionsWithStatus(
  context: LegacyContext,
  session: Session,
  stream: CallStream,
  record: OperationRecord,
  by: 'operation' | 'job',
): Promise<void> {
  if (!session.elicitation) return;
  const listed = by === 'operation' ? operationScope(session) : jobScope(session);
  const isListening = context.notifier.isListening(listed);
  const due = Object.entries(record.inputRequests).filter(([key]) => {
    const rest = context.questionBackoffs.get(questionId(session, record.token, key));
    return rest ? rest.until <= performance.now() : !isListening;
  });
  for (const [key] of due) rest(context, questionId(session, record.token, key));
  const questions = new Questions(context, session, stream, by);
  try {
    await questions.show({ ...record, inputRequests: Object.fromEntries(due) });
  } finally {
    questions.close();
  }
}

function rest({ questionBackoffs }: LegacyContext, question: string): void {
  const restMs = questionBackoffs.get(question)?.nextMs ?? FIRST_REST_MS;
  questionBackoffs.set(question, {
    until: performance.now() + restMs,
    nextMs: Math.min(LONGEST_REST_MS, restMs * 2),
  });
}

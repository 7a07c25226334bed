/**
 * Questions of operations (SEP-1391) on the streams of tools/async/status, and of two-stage jobs on those of
 * tools/poll_result, for sessions that have no stream of their own.
 * A client asks for the status again and again, and its person needs time: the same question rests meanwhile. What this
 * process remembers of that is a courtesy: at another one a question may be shown again, and the first answer counts.
 */
import type { OperationRecord } from '../../operations/record.js';
import type { LegacyContext } from './context.js';
import { questionId, Questions } from './questions.js';
import { jobScope, operationScope, type Session } from './session.js';
import type { CallStream } from './waits.js';

/** How long a question rests once it was shown, in milliseconds; doubled each time. */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;
/** How many questions are remembered. */
const REMEMBERED = 1_000;

/** Shows the open questions of an operation or job that nothing else shows, and those whose answer was refused. */
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
  // At the end of the map, which is in the order of insertion.
  questionBackoffs.delete(question);
  questionBackoffs.set(question, {
    until: performance.now() + restMs,
    nextMs: Math.min(LONGEST_REST_MS, restMs * 2),
  });
  if (questionBackoffs.size > REMEMBERED) questionBackoffs.delete(questionBackoffs.keys().next().value!);
}

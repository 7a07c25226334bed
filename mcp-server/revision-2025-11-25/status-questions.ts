/**
 * Questions of operations (SEP-1391) on the streams of tools/async/status, and of two-stage jobs on those of
 * tools/poll_result, for sessions that have no stream of their own.
 * A client asks for the status again and again, and its person needs time: the same question rests meanwhile. What this
 * process remembers of that is a courtesy: at another one a question may be shown again, and the first answer counts.
 */
import type { OperationRecord } from '../../operations/record.js';
import type { OlderEra } from './context.js';
import { questionId, Questions } from './questions.js';
import { jobsOf, operationsOf, type Session } from './session.js';
import type { CallStream } from './waits.js';

/** How long a question rests once it was shown, in milliseconds; doubled each time. */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;
/** How many questions are remembered. */
const REMEMBERED = 1_000;

/** Shows the open questions of an operation or job that nothing else shows, and those whose answer was refused. */
export async function showWithStatus(
  era: OlderEra,
  session: Session,
  stream: CallStream,
  record: OperationRecord,
  by: 'operation' | 'job',
): Promise<void> {
  if (!session.elicitation) return;
  const listed = by === 'operation' ? operationsOf(session) : jobsOf(session);
  const isListening = era.news.isListening(listed);
  const due = Object.entries(record.inputRequests).filter(([key]) => {
    const rest = era.rests.get(questionId(session, record.token, key));
    return rest ? rest.until <= performance.now() : !isListening;
  });
  for (const [key] of due) rest(era, questionId(session, record.token, key));
  const questions = new Questions(era, session, stream, by);
  try {
    await questions.show({ ...record, inputRequests: Object.fromEntries(due) });
  } finally {
    questions.close();
  }
}

function rest({ rests }: OlderEra, question: string): void {
  const restMs = rests.get(question)?.nextMs ?? FIRST_REST_MS;
  // At the end of the map, which is in the order of insertion.
  rests.delete(question);
  rests.set(question, { until: performance.now() + restMs, nextMs: Math.min(LONGEST_REST_MS, restMs * 2) });
  if (rests.size > REMEMBERED) rests.delete(rests.keys().next().value!);
}

/** A session's own stream: news of its tasks, and their questions when no call shows them. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { OlderEra } from './context.js';
import { Questions } from './questions.js';
import { featuresOf, tasksOf, type Session } from './session.js';

/**
 * Serves a stream until the signal fires. Questions come here too since a client may wait for a task without asking for
 * its result (specs: 2025-11-25 basic/utilities/tasks, "Input Required Status", note).
 */
export function listenForTasks(
  era: OlderEra,
  session: Session,
  send: (message: JSONRPCMessage) => Promise<void>,
  signal: AbortSignal,
): void {
  const { version, principal, elicitation } = session;
  if (!featuresOf(version).tasks) return;
  era.notifications.listen({
    principal,
    session: tasksOf(session),
    elicitation,
    send,
    signal,
    ...(elicitation ? { questions: () => new Questions(era, session, { send }, 'listener') } : {}),
  });
}

/** Notifications on a session's own stream, and questions that no waiting call shows. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { associationOf } from '../sep-1391/render.js';
import { followOperation } from '../sep-1391/handlers.js';
import type { Follower } from '../sessions/session-notifier.js';
import { followTask } from './tasks/handlers.js';
import { followJob } from '../two-stage/notifications.js';
import { DeliveredJobs } from '../two-stage/delivered-jobs.js';
import { type LegacyContext, linkTransformOf } from './context.js';
import { Questions, type AskedBy } from './questions.js';
import { featuresOf, scopeOf, type Session } from './session.js';

/**
 * Sends notifications until the signal fires. Also sends questions, since a client may wait for a task without requesting its
 * result (specs: 2025-11-25 basic/utilities/tasks, "Input Required Status", note).
 *
 * @param delivered what the resumed stream has sent of the session's two-stage jobs. Default: nothing
 */
export function notifySession(
  context: LegacyContext,
  session: Session,
  sendOut: (message: JSONRPCMessage) => Promise<void>,
  signal: AbortSignal,
  delivered: DeliveredJobs = new DeliveredJobs(() => context.engine.heardNowMs),
): void {
  const { version, elicitation } = session;
  const { engine } = context;
  const withLinks = linkTransformOf(context, session);
  const send = (message: JSONRPCMessage) =>
    sendOut(
      'params' in message && message.params ? { ...message, params: withLinks(message.params) } : message,
    );
  const listen = (listed: string, by: AskedBy, createFollower: () => Follower, since?: Date) => {
    const createQuestions = elicitation
      ? () => new Questions(context, session, { send }, by, true)
      : undefined;
    context.notifier.listen({ engine, session: listed, signal, createFollower, createQuestions, since });
  };
  if (featuresOf(version).tasks) listen(scopeOf(session, 'tasks'), 'task', () => followTask(send, session));
  const { asyncTools, twoStage } = session;
  const job = { engine, send, delivered, fields: associationOf };
  if (twoStage) listen(scopeOf(session, 'jobs'), 'job', () => followJob(job), delivered.since);
  // With both opt-ins an operation is followed like a job, and its result is notified too.
  if (twoStage && asyncTools)
    listen(scopeOf(session, 'operations'), 'operation', () => followJob(job), delivered.since);
  else if (asyncTools) listen(scopeOf(session, 'operations'), 'operation', () => followOperation(send));
}

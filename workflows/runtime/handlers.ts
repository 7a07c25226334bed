/** The query, update and signals that every operation answers. */
import { ApplicationFailure, log, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import { check, withDefaults, type JsonSchema } from '../../operations/schema.js';
import {
  CANCEL_OPERATION_SIGNAL,
  OPERATION_QUERY,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  REQUEST_CANCEL_ACTIVITY,
  type ProvidedInput,
} from '../../operations/wire.js';
import { answeredByParent, listenToParts } from './parts.js';
import { answered, change, keepAnswer, questions, state, withdraw } from './state.js';

export function registerHandlers(): void {
  listenToParts();
  setHandler(OPERATION_QUERY, state, { description: 'The operation as it is now.' });
  setHandler(PROVIDE_INPUT_UPDATE, take, {
    validator: (input: ProvidedInput) => {
      const problem = problemOf(input);
      if (problem) throw problem;
    },
    description: 'Answers an input request: {key, answerId, answer: {action, content}}.',
  });
  setHandler(
    PROVIDE_INPUT_SIGNAL,
    (input) => {
      const problem = problemOf(input);
      if (problem)
        log.warn('an answer that came as a signal was not taken', { key: input?.key, why: problem.message });
      else take(input);
    },
    { description: 'The same as the update, for when no worker is there to say whether the answer fits.' },
  );
  setHandler(CANCEL_OPERATION_SIGNAL, cancel, { description: 'Cancels the operation; takes a reason.' });
}

/** Why this answer can't be taken; undefined when it can. The same answer a second time is taken as said. */
function problemOf(input: ProvidedInput): ApplicationFailure | undefined {
  const refuse = (type: string, message: string) => ApplicationFailure.nonRetryable(message, type);
  if (answered.get(input.key) === input.answerId) return undefined;
  if (answered.has(input.key))
    return refuse('already_answered', `input request "${input.key}" has been answered`);
  const question = questions.get(input.key);
  if (!question) return refuse('unknown_key', `there is no open input request "${input.key}"`);
  if (!['accept', 'decline', 'cancel'].includes(input.answer?.action)) {
    return refuse(
      'invalid_answer',
      `action: expected accept, decline or cancel; got ${JSON.stringify(input.answer?.action)}`,
    );
  }
  if (input.answer.action !== 'accept') return undefined;
  const problems = check(question.schema, input.answer.content, 'content');
  return problems.length ? refuse('invalid_answer', problems.join('\n')) : undefined;
}

function take(input: ProvidedInput): void {
  if (answered.has(input.key)) return;
  const { key, answerId, answer } = input;
  answered.set(key, answerId);
  const question = questions.get(key);
  withdraw(key);
  keepAnswer({ key, action: answer.action });
  if (input.isForwarded) answeredByParent(key);
  question?.settle(
    answer.action === 'accept' ? { ...answer, content: complete(question.schema, answer.content) } : answer,
    answerId,
  );
}

/** The content with the defaults that its question gives. */
function complete(schema: JsonSchema, content: Record<string, unknown>): Record<string, unknown> {
  return withDefaults(schema, content) as Record<string, unknown>;
}

/** A workflow can't cancel itself: Temporal refuses that. Its worker asks in its place. */
const { [REQUEST_CANCEL_ACTIVITY]: requestCancel } = proxyLocalActivities<
  Record<typeof REQUEST_CANCEL_ACTIVITY, (reason?: string) => Promise<void>>
>({ startToCloseTimeout: '10s' });

/** Turns the signal into Temporal's own cancel request, so that the workflow closes as cancelled and not as failed. */
async function cancel(reason?: string): Promise<void> {
  change({ cancelRequestedAt: new Date().toISOString(), ...(reason ? { cancelReason: reason } : {}) });
  await requestCancel(reason);
}

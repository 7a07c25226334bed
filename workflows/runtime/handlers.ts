/** Query, update and signal handlers of every operation. */
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
import { assertSigned, claimOf, claimProblem, needsSignature } from './answerers.js';
import { acceptForwardedAnswer, handlePartNotices } from './parts.js';
import { acceptedAnswerIds, changeState, keepAnswer, questions, state, withdrawQuestion } from './state.js';

export function registerHandlers(): void {
  handlePartNotices();
  setHandler(OPERATION_QUERY, state, { description: 'The current state of the operation.' });
  setHandler(PROVIDE_INPUT_UPDATE, takeAnswer, {
    validator: (input: ProvidedInput) => {
      const problem = answerProblem(input);
      if (problem) throw problem;
    },
    description: 'Answers an input request: {key, answerId, answer: {action, content}}.',
  });
  setHandler(
    PROVIDE_INPUT_SIGNAL,
    (input) => {
      const reject = (problem: Error) =>
        log.warn('rejected an answer that was sent as a signal', { key: input?.key, why: problem.message });
      const problem = answerProblem(input);
      if (problem) return reject(problem);
      return takeAnswer(input)?.catch((error: unknown) => {
        if (!(error instanceof ApplicationFailure)) throw error;
        reject(error);
      });
    },
    { description: 'Like the update, but needs no running worker: an answer that does not fit is ignored.' },
  );
  setHandler(CANCEL_OPERATION_SIGNAL, cancel, { description: 'Cancels the operation; takes a reason.' });
}

/** Why this answer is rejected; undefined when it is valid, or a repetition of the accepted one. */
function answerProblem(input: ProvidedInput): ApplicationFailure | undefined {
  const refuse = (type: string, message: string) => ApplicationFailure.nonRetryable(message, type);
  if (acceptedAnswerIds.get(input.key) === input.answerId) return undefined;
  if (acceptedAnswerIds.has(input.key))
    return refuse('already_answered', `input request "${input.key}" has been answered`);
  const question = questions.get(input.key);
  if (!question) return refuse('unknown_key', `there is no open input request "${input.key}"`);
  if (!['accept', 'decline', 'cancel'].includes(input.answer?.action)) {
    return refuse(
      'invalid_answer',
      `action: expected accept, decline or cancel; got ${JSON.stringify(input.answer?.action)}`,
    );
  }
  const refused = claimProblem(question.rules, input);
  if (refused ?? input.answer.action !== 'accept') return refused;
  const problems = check(question.schema, input.answer.content, 'content');
  return problems.length ? refuse('invalid_answer', problems.join('\n')) : undefined;
}

/** @returns undefined when it is taken at once; otherwise its signature is verified first */
function takeAnswer(input: ProvidedInput): Promise<void> | undefined {
  if (acceptedAnswerIds.has(input.key)) return undefined;
  const question = questions.get(input.key);
  if (question && needsSignature(question.rules)) return takeSigned(input);
  settle(input);
  return undefined;
}

/** @throws ApplicationFailure when the answer is refused, or another one was accepted meanwhile */
async function takeSigned(input: ProvidedInput): Promise<void> {
  await assertSigned(input);
  const problem = answerProblem(input);
  if (problem) throw problem;
  if (!acceptedAnswerIds.has(input.key)) settle(input);
}

function settle(input: ProvidedInput): void {
  const { key, answerId, answer } = input;
  acceptedAnswerIds.set(key, answerId);
  const question = questions.get(key);
  withdrawQuestion(key);
  keepAnswer({ key, action: answer.action, ...claimOf(input) });
  if (input.isForwarded) acceptForwardedAnswer(key);
  question?.settle(
    answer.action === 'accept' ? { ...answer, content: complete(question.schema, answer.content) } : answer,
    input,
  );
}

/** The content with the defaults of its question's schema. */
function complete(schema: JsonSchema, content: Record<string, unknown>): Record<string, unknown> {
  return withDefaults(schema, content) as Record<string, unknown>;
}

/** Temporal doesn't let a workflow cancel itself, so a local activity requests it. */
const { [REQUEST_CANCEL_ACTIVITY]: requestCancel } = proxyLocalActivities<
  Record<typeof REQUEST_CANCEL_ACTIVITY, (reason?: string) => Promise<void>>
>({ startToCloseTimeout: '10s' });

/** Turns the signal into Temporal's cancel request, so that the workflow closes as cancelled and not as failed. */
async function cancel(reason?: string): Promise<void> {
  changeState({ cancelRequestedAt: new Date().toISOString(), ...(reason ? { cancelReason: reason } : {}) });
  await requestCancel(reason);
}

/** Query, update and signal handlers of every operation, and who may answer it. */
import {
  ApplicationFailure,
  log,
  proxyLocalActivities,
  setHandler,
  CancellationScope,
} from '@temporalio/workflow';
import {
  isAction,
  isProvidedInput,
  misfitOf,
  answerDigest,
  claimProblem,
  isRestricted,
  startersOf,
  type AnswerRules,
} from '../../operations/answers.js';
import { withDefaults, type JsonSchema } from '../../operations/tool/schema.js';
import {
  CANCEL_OPERATION_SIGNAL,
  OPERATION_QUERY,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  REQUEST_CANCEL_ACTIVITY,
  type ProvidedInput,
  VERIFY_ANSWER_ACTIVITY,
  type AnswerProof,
} from '../../operations/wire/index.js';
import type { KeptAnswer } from '../../operations/wire/state.js';
import { acceptForwardedAnswer, handlePartNotices, refuseForwardedAnswer } from './parts.js';
import {
  acceptedAnswerIds,
  changeState,
  hasEnded,
  keepAnswer,
  keepRefusedAnswer,
  partMemo,
  questions,
  state,
  withdrawQuestion,
  operation,
} from './state.js';
import { parseSignature } from '../../operations/wire/signatures.js';

/** Key -> end of the verification that the question's next answer waits for. */
const verifications = new Map<string, Promise<void>>();
const unverified = new Set<ProvidedInput>();

export function registerHandlers(): void {
  handlePartNotices();
  for (const { key, id } of state().answers ?? []) if (id !== undefined) acceptedAnswerIds.set(key, id);
  setHandler(OPERATION_QUERY, state, { description: 'The current state of the operation.' });
  setHandler(PROVIDE_INPUT_UPDATE, takeAnswer, {
    validator: (input: ProvidedInput) => {
      const problem = answerProblem(input);
      if (problem) throw problem;
    },
    description: 'Answers an input request: {key, answerId, answer: {action, content}}.',
  });
  setHandler(PROVIDE_INPUT_SIGNAL, takeSignal, {
    description: 'Like the update, but needs no running worker: an answer that does not fit is ignored.',
  });
  setHandler(CANCEL_OPERATION_SIGNAL, cancel, { description: 'Cancels the operation; takes a reason.' });
}

function takeSignal(input: ProvidedInput): Promise<void> | undefined {
  const problem = answerProblem(input);
  if (problem) {
    refuse(input, problem.message);
    return undefined;
  }
  const taken = takeAnswer(input);
  if (!taken) return undefined;
  unverified.add(input);
  return taken
    .catch((error: unknown) => {
      if (!(error instanceof ApplicationFailure)) throw error;
      if (unverified.has(input)) refuse(input, error.message);
    })
    .finally(() => unverified.delete(input));
}

/** Refuses answers that are still being verified when the run ends: their senders know them as queued. */
export function refuseUnverified(): void {
  for (const input of unverified) refuse(input, 'the operation ended before the signature was verified');
  unverified.clear();
}

/** Why this answer is rejected; undefined if it is valid or repeats the accepted one. */
function answerProblem(input: ProvidedInput): ApplicationFailure | undefined {
  const refusal = (type: string, message: string) => ApplicationFailure.nonRetryable(message, type);
  if (!isProvidedInput(input))
    return refusal('invalid_answer', 'expected {key, answerId, answer: {action, content}, by, signature}');
  if (acceptedAnswerIds.get(input.key) === input.answerId) return undefined;
  if (acceptedAnswerIds.has(input.key))
    return refusal('already_answered', `input request "${input.key}" has been answered`);
  const question = questions.get(input.key);
  if (!question) return refusal('unknown_key', `there is no open input request "${input.key}"`);
  const unclaimed = claimRefusal(question.rules, input);
  if (unclaimed) return unclaimed;
  const misfit = misfitOf(question.schema, input.answer);
  return misfit === undefined ? undefined : refusal('invalid_answer', misfit);
}

/** @returns undefined when it is taken at once; otherwise its signature is verified first */
function takeAnswer(input: ProvidedInput): Promise<void> | undefined {
  if (acceptedAnswerIds.has(input.key)) return undefined;
  const question = questions.get(input.key);
  if (question && requiresSignature(question.rules)) return takeSigned(input);
  settle(input);
  return undefined;
}

/**
 * Verifies a question's answers one by one, in the order of the history: an earlier answer wins even if its verification takes longer.
 *
 * @throws ApplicationFailure when the answer is refused, or an earlier one is accepted
 */
function takeSigned(input: ProvidedInput): Promise<void> {
  const { key } = input;
  const before = verifications.get(key);
  const taken = before ? before.then(() => verifyAndSettle(input)) : verifyAndSettle(input);
  const end = taken.then(
    () => undefined,
    () => undefined,
  );
  verifications.set(key, end);
  void end.then(() => {
    if (verifications.get(key) === end) verifications.delete(key);
  });
  return taken;
}

async function verifyAndSettle(input: ProvidedInput): Promise<void> {
  if (isAccepted(input)) return;
  await assertSigned(input);
  if (!isAccepted(input)) settle(input);
}

/** @throws ApplicationFailure when the answer no longer fits, or another one was accepted meanwhile */
function isAccepted(input: ProvidedInput): boolean {
  const problem = answerProblem(input);
  if (problem) throw problem;
  return acceptedAnswerIds.has(input.key);
}

function settle(input: ProvidedInput): void {
  const { key, answerId, answer } = input;
  acceptedAnswerIds.set(key, answerId);
  const question = questions.get(key);
  withdrawQuestion(key);
  keepAnswer({ key, id: answerId, action: answer.action, ...claimOf(input) });
  if (input.isForwarded) acceptForwardedAnswer(key);
  question?.settle(
    answer.action === 'accept' ? { ...answer, content: complete(question.schema, answer.content) } : answer,
    input,
  );
}

/** Records a refused signal for its sender. An update's sender gets the refusal as its result. */
function refuse(input: ProvidedInput, reason: string): void {
  log.warn('rejected an answer that was sent as a signal', { key: input?.key, why: reason });
  // Servers send no others, and nothing is written after the run's end.
  if (!isProvidedInput(input) || !isAction(input.answer.action) || hasEnded()) return;
  const { key, answerId: id, answer, isForwarded } = input;
  keepRefusedAnswer({ key, id, action: answer.action, reason, ...claimOf(input) });
  if (isForwarded && partMemo()) refuseForwardedAnswer(key, id, reason);
}

function complete(schema: JsonSchema, content: Record<string, unknown>): Record<string, unknown> {
  return withDefaults(schema, content) as Record<string, unknown>;
}

/** Temporal doesn't let a workflow cancel itself, so a local activity requests it. */
const { [REQUEST_CANCEL_ACTIVITY]: requestCancel, [VERIFY_ANSWER_ACTIVITY]: verify } = proxyLocalActivities<{
  [REQUEST_CANCEL_ACTIVITY]: (reason?: string) => Promise<void>;
  [VERIFY_ANSWER_ACTIVITY]: (proof: AnswerProof) => Promise<string | null>;
}>({ startToCloseTimeout: '10s' });

/** Turns the signal into Temporal's cancel request: the workflow then closes as cancelled, not as failed. */
async function cancel(reason?: string): Promise<void> {
  changeState({ cancelRequestedAt: new Date().toISOString(), ...(reason ? { cancelReason: reason } : {}) });
  await requestCancel(reason);
}

/**
 * Who answered, if the signature is for this answer; else nothing. A local activity verifies that the key's holder made it, for questions
 * that not everybody may answer. For all others, readers of the record do.
 */
function claimOf(input: ProvidedInput): Pick<KeptAnswer, 'by' | 'signature'> {
  const { answerId, answer, by, signature } = input;
  if (by === undefined || signature === undefined) return {};
  const part = partMemo();
  const key = part ? `${part.path ?? part.name}/${input.key}` : input.key;
  const isOfThis = parseSignature(signature)?.digest === answerDigest({ key, answerId, answer, by });
  return isOfThis ? { by, signature } : {};
}

function requiresSignature(rules: AnswerRules): boolean {
  return isRestricted(rules) || operation().operatorAnswers === false;
}

/** Why the claimed answerer may not answer, before the signature is verified; undefined if they may. */
function claimRefusal(rules: AnswerRules, input: ProvidedInput): ApplicationFailure | undefined {
  const { operatorAnswers, ...starters } = operation();
  const problem = claimProblem(rules, claimOf(input).by, { starters: startersOf(starters), operatorAnswers });
  return problem === undefined ? undefined : forbidden(problem);
}

/** Can't be cancelled, which would end the workflow before its cleanups. @throws ApplicationFailure `forbidden` for a bad signature */
async function assertSigned(input: ProvidedInput): Promise<void> {
  const proof = { operationId: operation().operationId, signature: input.signature! };
  const problem = await CancellationScope.nonCancellable(() => verify(proof));
  if (problem !== null) throw forbidden(problem);
}

function forbidden(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'forbidden');
}

/**
 * Who answered. A signature is compared with the answer here; whether the key's holder made it is verified by a local activity, for
 * questions that not everybody may answer, and by readers of the record for all others.
 */
import { ApplicationFailure, CancellationScope, proxyLocalActivities } from '@temporalio/workflow';
import {
  answerDigest,
  claimProblem,
  isRestricted,
  startersOf,
  type AnswerRules,
} from '../../operations/answers.js';
import { parseSignature } from '../../operations/signatures.js';
import {
  VERIFY_ANSWER_ACTIVITY,
  type AnswerProof,
  type KeptAnswer,
  type ProvidedInput,
} from '../../operations/wire.js';
import { operation, partMemo } from './state.js';

const { [VERIFY_ANSWER_ACTIVITY]: verify } = proxyLocalActivities<
  Record<typeof VERIFY_ANSWER_ACTIVITY, (proof: AnswerProof) => Promise<string | null>>
>({ startToCloseTimeout: '10s' });

/** Who answered, as far as the signature is one of this answer; else nothing. */
export function claimOf(input: ProvidedInput): Pick<KeptAnswer, 'by' | 'signature'> {
  const { answerId, answer, by, signature } = input;
  if (by === undefined || signature === undefined) return {};
  const part = partMemo();
  const key = part ? `${part.path ?? part.name}/${input.key}` : input.key;
  const isOfThis = parseSignature(signature)?.digest === answerDigest({ key, answerId, answer, by });
  return isOfThis ? { by, signature } : {};
}

/** Whether answers to a question need a valid signature. */
export function requiresSignature(rules: AnswerRules): boolean {
  return isRestricted(rules) || operation().operatorAnswers === false;
}

/** Why an answer is refused for who gave it, before its signature is verified; undefined if it isn't. */
export function claimRefusal(rules: AnswerRules, input: ProvidedInput): ApplicationFailure | undefined {
  const { operatorAnswers, ...starters } = operation();
  const problem = claimProblem(rules, claimOf(input).by, { starters: startersOf(starters), operatorAnswers });
  return problem === undefined ? undefined : forbidden(problem);
}

/**
 * Verifies also while the operation is being cancelled: a cancelled local activity would end the workflow before its cleanups.
 *
 * @throws ApplicationFailure `forbidden` when the signature isn't valid
 */
export async function assertSigned(input: ProvidedInput): Promise<void> {
  const proof = { operationId: operation().operationId, signature: input.signature! };
  const problem = await CancellationScope.nonCancellable(() => verify(proof));
  if (problem !== null) throw forbidden(problem);
}

function forbidden(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'forbidden');
}

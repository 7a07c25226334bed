/**
 * Who answered. This compares a signature with its answer. A local activity verifies that the key's holder made it, for
 * questions that not everybody may answer. For all others, readers of the record do.
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

/** Who answered, if the signature is for this answer; else nothing. */
export function claimOf(input: ProvidedInput): Pick<KeptAnswer, 'by' | 'signature'> {
  const { answerId, answer, by, signature } = input;
  if (by === undefined || signature === undefined) return {};
  const part = partMemo();
  const key = part ? `${part.path ?? part.name}/${input.key}` : input.key;
  const isOfThis = parseSignature(signature)?.digest === answerDigest({ key, answerId, answer, by });
  return isOfThis ? { by, signature } : {};
}

export function requiresSignature(rules: AnswerRules): boolean {
  return isRestricted(rules) || operation().operatorAnswers === false;
}

/** Why the claimed answerer may not answer, before the signature is verified; undefined if they may. */
export function claimRefusal(rules: AnswerRules, input: ProvidedInput): ApplicationFailure | undefined {
  const { operatorAnswers, ...starters } = operation();
  const problem = claimProblem(rules, claimOf(input).by, { starters: startersOf(starters), operatorAnswers });
  return problem === undefined ? undefined : forbidden(problem);
}

/** Can't be cancelled, which would end the workflow before its cleanups. @throws ApplicationFailure `forbidden` for a bad signature */
export async function assertSigned(input: ProvidedInput): Promise<void> {
  const proof = { operationId: operation().operationId, signature: input.signature! };
  const problem = await CancellationScope.nonCancellable(() => verify(proof));
  if (problem !== null) throw forbidden(problem);
}

function forbidden(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'forbidden');
}

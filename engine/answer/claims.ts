/** Who answers: the server signs answers as it sends them, and verifies them as it reads them. */
import { answerDigest, answerHeaderDigest } from '../../operations/answers.js';
import type { Answer, AnsweredRequest, Answerer } from '../../operations/record.js';
import { parseSignature } from '../../operations/wire/signatures.js';
import { ANONYMOUS, type AnswerHeader, type ProvidedInput } from '../../operations/wire/index.js';
import type { KeptAnswer } from '../../operations/wire/state.js';
import type { Signer } from '../../platform/temporal/signer.js';

export interface GivenAnswer {
  key: string;
  answer: Answer;
  by: { principal: string; roles?: string[] };
  /** The answerer's own ID for the answer. Default: derived from the answer. */
  idempotencyKey?: string;
}

export function identified(
  signer: Signer,
  workflowId: string,
  { key, answer, by: { principal }, idempotencyKey }: GivenAnswer,
): ProvidedInput {
  return { key, answerId: signer.answerId(workflowId, key, [{ principal }, answer, idempotencyKey]), answer };
}

/** Signs an answer. Callers without authentication have no name to sign for; they sign only if every answer has to be signed. */
export function signed(
  signer: Signer,
  workflowId: string,
  input: ProvidedInput,
  { by, areAllSigned }: { by: GivenAnswer['by']; areAllSigned: boolean },
): ProvidedInput {
  if (by.principal === ANONYMOUS && !areAllSigned) return input;
  return { ...input, by, signature: signer.sign('answer', workflowId, answerDigest({ ...input, by })) };
}

/** Header of the signal that answers an external workflow. */
export function answerHeader(
  signer: Signer,
  workflowId: string,
  { key, answerId, answer: { action } }: ProvidedInput,
  by: GivenAnswer['by'],
): AnswerHeader {
  const fields = { key, answerId, action, by };
  return { ...fields, signature: signer.sign('answer', workflowId, answerHeaderDigest(fields)) };
}

/** The answerer, if the signature is valid. */
export function claimantOf(
  signer: Signer,
  workflowId: string,
  given: ProvidedInput | AnswerHeader,
): Answerer | undefined {
  const { by, signature } = given;
  if (by === undefined) return undefined;
  const digest = 'answer' in given ? answerDigest({ ...given, by }) : answerHeaderDigest(given);
  const isOfThis = parseSignature(signature)?.digest === digest;
  return isOfThis && signer.problemOf(['answer'], workflowId, signature) === undefined ? by : undefined;
}

/** The answerer as a record shows it: the anonymous have no name, and unsigned answers to a named caller are an operator's. */
export function answererOf(starter: string, claimant: Answerer | undefined): Pick<AnsweredRequest, 'by'> {
  if (claimant) return 'principal' in claimant && claimant.principal === ANONYMOUS ? {} : { by: claimant };
  return starter === ANONYMOUS ? {} : { by: { operator: true } };
}

export function verifiedAnswers(
  signer: Signer,
  workflowId: string,
  starter: string,
  answers: (KeptAnswer & Pick<AnsweredRequest, 'state'>)[],
): AnsweredRequest[] {
  return answers.map(({ by, signature, ...answer }) => {
    if (answer.isDefault) return answer;
    const isSigned = by && signer.problemOf(['answer'], workflowId, signature) === undefined;
    return { ...answer, ...answererOf(starter, isSigned ? by : undefined) };
  });
}

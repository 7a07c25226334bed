/** Who may answer a question, and the digest of an answer that is signed. For Temporal's sandbox too. */
import type { Answer, Answerer, InputRequest, OperationRecord } from './record.js';
import { digestOfJson } from './signatures.js';
import { ANONYMOUS } from './wire.js';

/** Rules of a question on who may answer it. */
export type AnswerRules = Pick<InputRequest, 'approvers' | 'fourEyes'>;

/** Whether only some may answer, so that answers need a signature. */
export function isRestricted({ approvers, fourEyes }: AnswerRules): boolean {
  return approvers !== undefined || fourEyes === true;
}

/**
 * Why somebody may not answer a question; undefined if they may.
 *
 * @param by who answers; undefined without a signature
 * @param starters principals that gave its arguments: who started it, and who changed them in a resume
 */
export function answererProblem(
  rules: AnswerRules,
  by: Answerer | undefined,
  starters: readonly string[],
): string | undefined {
  const { approvers, fourEyes } = rules;
  if (!isRestricted(rules)) return undefined;
  const asked = [
    ...(approvers ? [`with one of the roles ${approvers.join(', ')}`] : []),
    ...(fourEyes ? ['who did not start the operation or change its arguments'] : []),
  ].join(' and ');
  const expected = `only a caller ${asked} may answer`;
  if (by === undefined)
    return `${expected}: expected an answer through Longhaul, or one that longhaul sign-answer has signed; got an answer without a signature`;
  if ('operator' in by) return undefined;
  if (by.principal === ANONYMOUS)
    return `${expected}, and this server does not know its callers: set authentication, or have an operator answer with longhaul sign-answer`;
  if (fourEyes && starters.includes(by.principal))
    return `${expected}; ${by.principal} ${starters[0] === by.principal ? 'started it' : 'changed its arguments'}`;
  if (approvers && !approvers.some((role) => by.roles?.includes(role)))
    return `${expected}; ${by.principal} has ${by.roles?.length ? by.roles.join(', ') : 'no role'}`;
  return undefined;
}

/** An answer as it is signed. */
export interface SignedAnswer {
  /** Key of the question in the operation, also if a part of it asks. */
  key: string;
  answerId: string;
  answer: Answer;
  by: Answerer;
}

/** Principals that gave the arguments of an operation. The first is the one that started it. */
export function startersOf({
  principal = ANONYMOUS,
  changedBy = [],
}: Partial<Pick<OperationRecord, 'principal' | 'changedBy'>>): string[] {
  return [principal, ...changedBy];
}

export function answerDigest({ key, answerId, answer, by }: SignedAnswer): string {
  return digestOfJson([key, answerId, answer, by]);
}

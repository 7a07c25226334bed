/** Rules of answers: their form, who may answer, which answers fit, and the signed digest. Also for Temporal's sandbox. */
import { isObject } from './json/is-object.js';
import type { Answer, Answerer, InputRequest, OperationRecord } from './record.js';
import { check, type JsonSchema } from './tool/schema.js';
import { digestOfJson } from './wire/signatures.js';
import { ANONYMOUS, type AnswerHeader, type ProvidedInput } from './wire/index.js';

/** Maximum length of a key, which may begin with names of parts, and of an answer's ID, in characters. */
const LONGEST_KEY = 1_000;
const LONGEST_ID = 200;

/** A question's rules on who may answer. */
export type AnswerRules = Pick<InputRequest, 'approvers' | 'fourEyes'>;

/** Whether only some may answer, so answers need a signature. */
export function isRestricted({ approvers, fourEyes }: AnswerRules): boolean {
  return approvers !== undefined || fourEyes === true;
}

/**
 * Why somebody may not answer a question; undefined if they may.
 *
 * @param by the answerer; undefined without a signature
 * @param starters principals that gave its arguments: the starter, and who changed them in a resume
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

/**
 * Why an answer is refused because of its answerer; undefined if it isn't.
 *
 * @param by the answerer, by signature; undefined without one
 * @param operation.operatorAnswers false: every answer needs a signature
 */
export function claimProblem(
  rules: AnswerRules,
  by: Answerer | undefined,
  { starters, operatorAnswers }: { starters: readonly string[]; operatorAnswers: boolean | undefined },
): string | undefined {
  const problem = answererProblem(rules, by, starters);
  if (problem !== undefined || by !== undefined || operatorAnswers !== false) return problem;
  return 'expected an answer through Longhaul: operatorAnswers is off; got one without a signature';
}

/** Why an answer doesn't fit its question, a line per problem; undefined if it fits. */
export function misfitOf(schema: JsonSchema, answer: Answer): string | undefined {
  if (!isAction(answer.action))
    return `action: expected accept, decline or cancel; got ${JSON.stringify(answer.action)}`;
  const problems = answer.action === 'accept' ? check(schema, answer.content, 'content') : [];
  return problems.length > 0 ? problems.join('\n') : undefined;
}

export function isAction(value: unknown): value is Answer['action'] {
  return value === 'accept' || value === 'decline' || value === 'cancel';
}

/** Whether an argument of the update or signal has an answer's form. Its action and content may not fit. */
export function isProvidedInput(value: unknown): value is ProvidedInput {
  return (
    isNamed(value) && isObject(value['answer']) && (value['by'] === undefined || isAnswerer(value['by']))
  );
}

export function isAnswerHeader(value: unknown): value is AnswerHeader {
  return isNamed(value) && isAction(value['action']) && isAnswerer(value['by']);
}

function isNamed(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isText(value['key'], LONGEST_KEY) && isText(value['answerId'], LONGEST_ID);
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= longest;
}

function isAnswerer(value: unknown): value is Answerer {
  if (!isObject(value)) return false;
  const { operator, principal, roles = [] } = value;
  if (operator !== undefined) return operator === true;
  return (
    typeof principal === 'string' && Array.isArray(roles) && roles.every((role) => typeof role === 'string')
  );
}

export interface SignedAnswer {
  /** Key of the question in the operation, even if a part asks. */
  key: string;
  answerId: string;
  answer: Answer;
  by: Answerer;
}

/** Principals that gave an operation's arguments, the starter first. */
export function startersOf({
  principal = ANONYMOUS,
  changedBy = [],
}: Partial<Pick<OperationRecord, 'principal' | 'changedBy'>>): string[] {
  return [principal, ...changedBy];
}

export function answerDigest({ key, answerId, answer, by }: SignedAnswer): string {
  return digestOfJson([key, answerId, answer, by]);
}

export function answerHeaderDigest({ key, answerId, action, by }: Omit<AnswerHeader, 'signature'>): string {
  return digestOfJson([key, answerId, action, by]);
}

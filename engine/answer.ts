/**
 * Answers to input requests: sent as an update with a validator, so that exactly one of two racing answers is accepted. If
 * no worker takes the update in time, a signal follows with the same answer ID, which the workflow counts once.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isKind, LonghaulError } from '../operations/errors.js';
import { answerDigest, answererProblem, startersOf } from '../operations/answers.js';
import { isTerminal, type Answer, type AnsweredRequest, type OperationRecord } from '../operations/record.js';
import { check } from '../operations/schema.js';
import {
  ANONYMOUS,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  type ProvidedInput,
} from '../operations/wire.js';
import type { Signer } from '../platform/signer.js';
import type { TemporalClient } from './temporal.js';

/** Who answers, and the function that signs for it. */
export interface SignedBy {
  by: { principal: string; roles?: string[] };
  sign: (input: ProvidedInput) => ProvidedInput;
}

/** Callers without authentication have no name to sign for, unless only signed answers are accepted. */
export function signedBy(
  signer: Signer,
  workflowId: string,
  by: SignedBy['by'],
  areAllSigned: boolean,
): SignedBy {
  const sign = (input: ProvidedInput): ProvidedInput => {
    if (by.principal === ANONYMOUS && !areAllSigned) return input;
    return { ...input, by, signature: signer.sign('answer', workflowId, answerDigest({ ...input, by })) };
  };
  return { by, sign };
}

/** The answers in a state memo, with answerers that were verified; unsigned answers to a named caller's operation are an operator's. */
export function verifiedAnswers(
  signer: Signer,
  workflowId: string,
  principal: string,
  answers: AnsweredRequest[],
): AnsweredRequest[] {
  return answers.map(({ by, signature, ...answer }) => {
    if (answer.isDefault) return answer;
    const isSigned = by && signer.problemOf(['answer'], workflowId, signature) === undefined;
    if (isSigned) return 'principal' in by && by.principal === ANONYMOUS ? answer : { ...answer, by };
    return principal === ANONYMOUS ? answer : { ...answer, by: { operator: true } };
  });
}

/**
 * Answers an input request.
 *
 * @param record of the operation, of now
 * @param read reads it again
 * @param isExternal whether a worker that isn't Longhaul's has to read the answer. Default: false
 * @returns `accepted` once the operation has the answer; `queued` if no worker was available to take it
 * @throws LonghaulError `wrong_state` for a key that isn't open, `forbidden`, `invalid_answer`, `too_large`, `not_found`,
 *   `unavailable`
 */
export async function answerOperation(
  temporal: TemporalClient,
  workflowId: string,
  record: OperationRecord,
  read: () => Promise<OperationRecord>,
  key: string,
  answer: Answer,
  { by, sign }: SignedBy,
  isExternal = false,
): Promise<'accepted' | 'queued'> {
  const call = isExternal ? temporal.callPlain.bind(temporal) : temporal.call.bind(temporal);
  if (isTerminal(record.status)) throw closedError(record);
  const refusal = answererProblem(record.inputRequests[key] ?? {}, by, startersOf(record));
  if (refusal !== undefined) throw new LonghaulError('forbidden', refusal);
  const input: ProvidedInput = sign({ key, answerId: randomUUID(), answer });
  try {
    await call((client) =>
      client.workflow
        .getHandle(workflowId)
        .executeUpdate(PROVIDE_INPUT_UPDATE, { args: [input], updateId: input.answerId }),
    );
    return 'accepted';
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw rejectionError(error);
    if (isKind(error, 'not_found')) return afterClose(temporal, workflowId, read, input);
    if (!isKind(error, 'unavailable')) {
      const now = await read();
      throw isTerminal(now.status) ? closedError(now) : error;
    }
  }
  const asked = record.inputRequests[key];
  if (!asked) throw new LonghaulError('wrong_state', `there is no open input request "${key}"`);
  const problems = answer.action === 'accept' ? check(asked.schema, answer.content, 'content') : [];
  if (problems.length) throw new LonghaulError('invalid_answer', problems.join('\n'));
  try {
    await call((client) => client.workflow.getHandle(workflowId).signal(PROVIDE_INPUT_SIGNAL, input));
    return 'queued';
  } catch (error) {
    if (!isKind(error, 'not_found')) throw error;
    return afterClose(temporal, workflowId, read, input);
  }
}

/**
 * The outcome of an answer to a workflow that has closed: perhaps by this answer, if its update was taken and only the response
 * was lost; otherwise another answer was first, or the work ended.
 */
async function afterClose(
  temporal: TemporalClient,
  workflowId: string,
  read: () => Promise<OperationRecord>,
  input: ProvidedInput,
): Promise<'accepted'> {
  if (await isAccepted(temporal, workflowId, input)) return 'accepted';
  throw closedError(await read());
}

/** Whether a workflow has accepted an answer before it closed. */
async function isAccepted(
  temporal: TemporalClient,
  workflowId: string,
  { answerId }: ProvidedInput,
): Promise<boolean> {
  try {
    await temporal.call((client) => client.workflow.getHandle(workflowId).getUpdateHandle(answerId).result());
    return true;
  } catch (error) {
    if (isKind(error, 'unavailable')) throw error;
    return false;
  }
}

export function closedError({ status }: OperationRecord): LonghaulError {
  return new LonghaulError('wrong_state', `the operation is ${status}`);
}

function rejectionError({ cause }: WorkflowUpdateFailedError): LonghaulError {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  const message = cause?.message ?? 'the answer was refused';
  const isKnown = type === 'invalid_answer' || type === 'forbidden';
  return new LonghaulError(isKnown ? type : 'wrong_state', message);
}

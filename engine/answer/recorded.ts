/** Answers in a record: from the state memo, and from the history where no worker has taken them yet. Nobody is asked again for them. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { claimProblem, misfitOf, startersOf } from '../../operations/answers.js';
import { KEPT_REFUSED_ANSWERS, type AnsweredRequest, type Answerer } from '../../operations/record.js';
import type { StartMemo } from '../../operations/wire/index.js';
import type { PublishedState } from '../../operations/wire/state.js';
import type { Signer } from '../../platform/temporal/signer.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import type { TemporalClient } from '../temporal/client.js';
import { answererOf, claimantOf, verifiedAnswers } from './claims.js';
import { sentAnswers, type SentAnswer } from './sent.js';

interface Operation {
  signer: Signer;
  workflowId: string;
  start: Pick<StartMemo, 'principal' | 'changedBy' | 'operatorAnswers'>;
  state: PublishedState;
}

/** The answers of a described operation, oldest first. @throws LonghaulError `not_found`, `unavailable` */
export async function recordedAnswers(
  temporal: TemporalClient,
  signer: Signer,
  description: WorkflowExecutionDescription,
  { start, state }: Pick<Operation, 'start' | 'state'>,
): Promise<AnsweredRequest[]> {
  const { workflowId } = description;
  const untaken = await untakenAnswers(temporal, description, state);
  const sent = outcomesOf(untaken, { signer, workflowId, start, state });
  const isSent = ({ key, id }: { key: string; id?: string }) =>
    sent.some((other) => other.key === key && other.id === id);
  const verified = verifiedAnswers(signer, workflowId, start.principal, [
    ...(state.answers ?? []).map((answer) => ({ ...answer, state: 'applied' as const })),
    ...(state.refusedAnswers ?? [])
      .filter((answer) => !isSent(answer))
      .map((answer) => ({ ...answer, state: 'refused' as const })),
  ]);
  const all = [...verified, ...(isOpen(description) ? sent : sent.map(cutOff))];
  const refused = all.filter((answer) => answer.state === 'refused').slice(-KEPT_REFUSED_ANSWERS);
  return all
    .filter((answer) => answer.state !== 'refused' || refused.includes(answer))
    .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

/** Answers that no completed workflow task has seen, as of the description. */
async function untakenAnswers(
  temporal: TemporalClient,
  { workflowId, runId, historyLength, status, raw }: WorkflowExecutionDescription,
  { inputRequests = {} }: PublishedState,
): Promise<SentAnswer[]> {
  const isWaiting = raw.pendingWorkflowTask || status.name === 'PAUSED';
  const wasCutOff = status.name === 'TERMINATED' || status.name === 'TIMED_OUT';
  if (Object.keys(inputRequests).length === 0 || (!isWaiting && !wasCutOff)) return [];
  const range = { lastEventId: historyLength, onlyUntaken: true };
  const sent = await sentAnswers(temporal, { workflowId, runId }, range);
  return sent.filter(({ isTaken }) => !isTaken);
}

/** Predicts outcomes by the workflow's rules: it takes answers in this order, and the first that fits counts. */
function outcomesOf(sent: SentAnswer[], { signer, workflowId, start, state }: Operation): AnsweredRequest[] {
  const taken = new Map((state.answers ?? []).map(({ key, id }) => [key, id]));
  const outcomes: AnsweredRequest[] = [];
  for (const { given, at } of sent) {
    const { key, answerId: id } = given;
    // Sent twice.
    if (taken.has(key) && taken.get(key) === id) continue;
    const claimant = claimantOf(signer, workflowId, given);
    // Anyone who can signal an external workflow can write the header too.
    if (!('answer' in given) && !claimant) continue;
    const reason = taken.has(key)
      ? `input request "${key}" has been answered`
      : refusalOf(given, claimant, { state, start });
    const { action } = 'answer' in given ? given.answer : given;
    const outcome =
      reason === undefined ? { state: 'queued' as const } : { state: 'refused' as const, reason };
    outcomes.push({ key, id, action, ...outcome, ...answererOf(start.principal, claimant), at });
    if (reason === undefined) taken.set(key, id);
  }
  return outcomes.filter(
    (one) => one.state === 'queued' || !outcomes.some(({ id, state }) => id === one.id && state === 'queued'),
  );
}

function refusalOf(
  given: SentAnswer['given'],
  claimant: Answerer | undefined,
  { state, start }: Pick<Operation, 'state' | 'start'>,
): string | undefined {
  const asked = state.inputRequests?.[given.key];
  if (!asked) return `there is no open input request "${given.key}"`;
  // An external workflow has its own rules, and the server checked the question's before it sent the answer.
  if (!('answer' in given)) return undefined;
  const { operatorAnswers } = start;
  const problem =
    claimProblem(asked, claimant, { starters: startersOf(start), operatorAnswers }) ??
    misfitOf(asked.schema, given.answer);
  return problem?.split('\n', 1)[0];
}

function cutOff(answer: AnsweredRequest): AnsweredRequest {
  if (answer.state !== 'queued') return answer;
  return { ...answer, state: 'refused', reason: 'the operation ended before a worker took the answer' };
}

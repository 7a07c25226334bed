/**
 * Answers to questions of external workflows, by an update or a signal. An update's ID is the question's key, so Temporal takes only the
 * first of two racing answers. A signal carries the answer's ID in a header, and the history shows which came first.
 */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { answererProblem, startersOf } from '../../operations/answers.js';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import { argumentsOf, type QuestionMapping } from '../../operations/wire/external-workflow.js';
import { isTerminal, type Answer } from '../../operations/record.js';
import { check } from '../../operations/tool/schema.js';
import { ANSWER_HEADER, type AnswerHeader } from '../../operations/wire/index.js';
import { answererOf, claimantOf } from '../answer/claims.js';
import {
  answeredError,
  closedError,
  eventuallyShown,
  notOpen,
  type Answered,
  type AnswerState,
} from '../answer/index.js';
import { sentAnswers, type SentAnswer } from '../answer/sent.js';
import { decodePayloads, eventsFromEnd } from '../read/history.js';
import { withHeader } from '../temporal/trace-calls.js';
import type { TemporalClient } from '../temporal/client.js';
import type { Signer } from '../../platform/temporal/signer.js';

/** Deadline of an update, in milliseconds. Its handler may do some work before it answers. */
const UPDATE_DEADLINE_MS = 10_000;
/** Maximum number of history pages to search for an accepted answer. */
const MAX_PAGES = 5;

export interface AnsweredExternal extends Omit<Answered, 'isExternal'> {
  mapping: QuestionMapping;
  signer: Signer;
}

/**
 * Answers a question of an external workflow.
 *
 * @param header of a signal
 * @returns `accepted` once an update has returned; `queued` once a signal is in the history
 * @throws LonghaulError `wrong_state` for a key that isn't open, or if another answer was first; `forbidden`, `invalid_answer` also if the
 *   workflow refuses it, `too_large`, `not_found`, `unavailable` also if no worker takes an update
 */
export async function answerExternal(
  operation: AnsweredExternal,
  answer: Answer,
  header: AnswerHeader,
): Promise<AnswerState> {
  const { temporal, workflowId, read, mapping } = operation;
  const { key, by } = header;
  const record = await read();
  const { principal, runId } = record;
  const request = isTerminal(record.status) ? undefined : record.inputRequests[key];
  if (!request) {
    const sent = mapping.answer.by === 'signal' ? await answersTo(operation, runId, key) : [];
    const own = sent.find(({ given }) => given.answerId === header.answerId);
    if (own) return own.isTaken ? 'accepted' : 'queued';
    const [other] = sent;
    if (other) throw answeredBy(operation, principal, other);
    throw isTerminal(record.status) ? closedError(record) : notOpen(key);
  }
  const refusal = answererProblem(request, by, startersOf(record));
  if (refusal !== undefined) throw new LonghaulError('forbidden', refusal);
  const args = argumentsOfAnswer(mapping, answer);
  // A dismissed question stays open: the workflow doesn't know dismissals.
  if (!args) return 'accepted';
  const { by: way, name } = mapping.answer;
  const handle = (client: TemporalClient['client']) => client.workflow.getHandle(workflowId, runId);
  if (way === 'update') return update(operation, runId, key, args);
  await temporal
    .callPlain((client) => withHeader(ANSWER_HEADER, header, () => handle(client).signal(name, ...args)))
    .catch(async (error: unknown) => {
      throw isKind(error, 'not_found') ? closedError(await read()) : error;
    });
  const first = await eventuallyShown(temporal, workflowId, async () => {
    const sent = await answersTo(operation, runId, key);
    const own = sent.findLast(({ given }) => given.answerId === header.answerId);
    // If an earlier workflow task saw an answer, it left the question open.
    return own && sent.find(({ tasksSince }) => tasksSince === own.tasksSince);
  });
  if (first && first.given.answerId !== header.answerId) throw answeredBy(operation, principal, first);
  return 'queued';
}

async function update(
  { temporal, workflowId, read, mapping }: AnsweredExternal,
  runId: string,
  key: string,
  args: unknown[],
): Promise<'accepted'> {
  const { name } = mapping.answer;
  const updateId = `longhaul-${key}`;
  let hasClosed = false;
  try {
    await temporal.callPlain(
      (client) =>
        client.workflow
          .getHandle(workflowId, runId)
          .executeUpdate(name, { args: args as [unknown, ...unknown[]], updateId }),
      UPDATE_DEADLINE_MS,
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      const now = await read();
      if (isTerminal(now.status)) throw closedError(now);
      const why = error.cause?.message ?? error.message;
      if (key in now.inputRequests)
        throw new LonghaulError('invalid_answer', `the workflow refused it: ${why}`);
      throw new LonghaulError('wrong_state', `the input request "${key}" is no longer open: ${why}`);
    }
    if (isKind(error, 'unavailable'))
      throw new LonghaulError(
        'unavailable',
        `the workflow did not take the answer in time; its worker may be away: ${error.message}`,
        { cause: error },
      );
    if (!isKind(error, 'not_found')) throw error;
    hasClosed = true;
  }
  const accepted = await acceptedArguments(temporal, { workflowId, runId }, updateId);
  // This answer may have closed it, and only the response was lost.
  if (hasClosed && accepted === undefined) throw closedError(await read());
  if (accepted !== undefined && canonicalJson(accepted) !== canonicalJson(args))
    throw new LonghaulError('wrong_state', `the input request "${key}" was answered by somebody else`);
  return 'accepted';
}

/** Signals of Longhaul's servers in the history that answer a question, oldest first. */
async function answersTo(
  { temporal, workflowId, signer }: AnsweredExternal,
  runId: string,
  key: string,
): Promise<SentAnswer[]> {
  const sent = await sentAnswers(temporal, { workflowId, runId });
  return sent.filter(({ given }) => given.key === key && claimantOf(signer, workflowId, given) !== undefined);
}

function answeredBy(
  { signer, workflowId }: AnsweredExternal,
  starter: string,
  { given, at }: SentAnswer,
): LonghaulError {
  return answeredError({ key: given.key, ...answererOf(starter, claimantOf(signer, workflowId, given)), at });
}

/** Undefined if there is nothing to send. @throws LonghaulError `invalid_answer` */
function argumentsOfAnswer({ schema, answer: to }: QuestionMapping, answer: Answer): unknown[] | undefined {
  if (answer.action === 'cancel') return undefined;
  if (answer.action === 'decline') {
    if (to.decline) return to.decline;
    throw new LonghaulError(
      'invalid_answer',
      "this question can't be declined: the workflow has no way to hear it. Answer it, or cancel the operation",
    );
  }
  const problems = check(schema, answer.content, 'content');
  if (problems.length) throw new LonghaulError('invalid_answer', problems.join('\n'));
  return argumentsOf(to.args, answer.content);
}

async function acceptedArguments(
  temporal: TemporalClient,
  execution: { workflowId: string; runId: string },
  updateId: string,
): Promise<unknown[] | undefined> {
  for await (const { workflowExecutionUpdateAcceptedEventAttributes: accepted } of eventsFromEnd(
    temporal,
    execution,
    MAX_PAGES,
  )) {
    const request = accepted?.acceptedRequest;
    if (request?.meta?.updateId === updateId) return decodePayloads(temporal, request.input?.args?.payloads);
  }
  return undefined;
}

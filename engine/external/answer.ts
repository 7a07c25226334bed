/**
 * Answers to questions of external workflows: an update or signal of the workflow's own. An update's ID is the question's key, so
 * that Temporal takes the first of two racing answers alone.
 */
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { answererProblem, startersOf } from '../../operations/answers.js';
import { canonicalJson } from '../../operations/canonical-json.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import { argumentsOf, type QuestionMapping } from '../../operations/external-workflow.js';
import { isTerminal, type Answer, type OperationRecord } from '../../operations/record.js';
import { check } from '../../operations/schema.js';
import { closedError, type SignedBy } from '../answer.js';
import { decodePayloads, eventsFromEnd } from '../history.js';
import type { TemporalClient } from '../temporal.js';

/** Deadline of an update, in milliseconds: its handler may do some work before it answers. */
const UPDATE_DEADLINE_MS = 10_000;
/** Maximum pages of history that are searched for an accepted answer. */
const MAX_PAGES = 5;

/**
 * Answers a question of an external workflow.
 *
 * @param read reads the operation, with its current questions
 * @returns `accepted` once an update has returned; `queued` once a signal is in the history
 * @throws LonghaulError `wrong_state` for a key that isn't open, `forbidden`, `invalid_answer` also if the workflow refuses it,
 *   `too_large`, `not_found`, `unavailable` also if no worker takes an update
 */
export async function answerExternal(
  temporal: TemporalClient,
  workflowId: string,
  read: () => Promise<OperationRecord>,
  { mapping, key, answer, by }: { mapping: QuestionMapping; key: string; answer: Answer; by: SignedBy['by'] },
): Promise<'accepted' | 'queued'> {
  const record = await read();
  if (isTerminal(record.status)) throw closedError(record);
  const request = record.inputRequests[key];
  if (!request) throw new LonghaulError('wrong_state', `there is no open input request "${key}"`);
  const refusal = answererProblem(request, by, startersOf(record));
  if (refusal !== undefined) throw new LonghaulError('forbidden', refusal);
  const args = argumentsOfAnswer(mapping, answer);
  // A dismissed question stays open: the workflow knows nothing of dismissals.
  if (!args) return 'accepted';
  const { by: way, name } = mapping.answer;
  const handle = (client: TemporalClient['client']) => client.workflow.getHandle(workflowId, record.runId);
  const execution = { workflowId, runId: record.runId };
  if (way === 'signal') {
    await temporal
      .callPlain((client) => handle(client).signal(name, ...args))
      .catch(async (error: unknown) => {
        throw isKind(error, 'not_found') ? closedError(await read()) : error;
      });
    return 'queued';
  }
  const updateId = `longhaul-${key}`;
  let hasClosed = false;
  try {
    await temporal.callPlain(
      (client) => handle(client).executeUpdate(name, { args: args as [unknown, ...unknown[]], updateId }),
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
  const accepted = await acceptedArguments(temporal, execution, updateId);
  // It may have closed by this answer, of which only the response was lost.
  if (hasClosed && accepted === undefined) throw closedError(await read());
  if (accepted !== undefined && canonicalJson(accepted) !== canonicalJson(args))
    throw new LonghaulError('wrong_state', `the input request "${key}" was answered by somebody else`);
  return 'accepted';
}

/** @returns undefined if nothing is sent @throws LonghaulError `invalid_answer` */
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

/** Arguments of the update that the workflow has accepted under the ID; undefined if there is none. */
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

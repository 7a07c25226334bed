/** `POST /v1/jobs/{id}/input`: answers a question of a job. */
import { z } from '@hono/zod-openapi';
import { isKind } from '../../operations/errors.js';
import type { Answer, OperationRecord } from '../../operations/record.js';
import type { JobsContext } from './context.js';
import { idempotencyKeyOf } from './headers.js';
import { Problem } from './rendering/problems.js';
import { assertNotExpired, jobPath } from './rendering/render.js';
import { idempotencyKey, jobParams, json } from './rendering/schemas.js';
import { registerRoute } from './route.js';

export const answerBody = z
  .strictObject({
    key: z.string().min(1).max(200).describe("The question's key in input_required.requests."),
    value: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("The answer, as the question's schema says."),
    action: z
      .enum(['accept', 'decline', 'cancel'])
      .optional()
      .describe(
        'accept: with a value. decline: refuses to answer; the work receives the refusal. cancel: dismisses the question; it may be asked again under another key. Default: accept.',
      ),
  })
  .openapi('Answer');

const headers = z.object({
  'idempotency-key': idempotencyKey(
    ': your own ID for the answer. The same answer gets the same response; another one is refused (409). Without it, equal answers of one caller are the same answer.',
  ),
});

const answered = z
  .object({
    key: z.string(),
    id: z.string().describe("ID of the answer in the job's answers."),
    action: z.enum(['accept', 'decline', 'cancel']),
    state: z
      .enum(['accepted', 'queued'])
      .describe('queued: no worker has taken it; with an Idempotency-Key: none had as it was first sent.'),
    job: z.object({ job_id: z.string(), status_url: z.string() }),
  })
  .openapi('Answered');

export function registerInput(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'post',
      path: '/v1/jobs/{id}/input',
      operationId: 'answerJob',
      tag: 'Jobs',
      summary: 'Answer a question of a job',
      description:
        'Each question takes one answer; another one gets 409, also while no worker is running. The same answer again counts once, and gets the state that it has by then, or with an Idempotency-Key the same response.',
      params: jobParams,
      headers,
      body: answerBody,
      isBodyRequired: true,
      success: {
        200: json(answered, 'The job has taken the answer.'),
        202: json(
          answered,
          'No worker is running: the answer is queued until one is. Should it be refused then, answers has the reason.',
        ),
      },
      problems: ['invalid-answer', 'invalid-idempotency-key', 'job-not-found', 'job-expired', 'wrong-state'],
    },
    async (c, { params: { id }, body: { key, value, action = 'accept' } }) => {
      if ((value !== undefined) !== (action === 'accept'))
        throw new Problem(
          'invalid-request',
          `body.value: expected ${action === 'accept' ? 'an object' : `none with the action ${action}`}`,
        );
      const answer: Answer = action === 'accept' ? { action, content: value ?? {} } : { action };
      const ownKey = idempotencyKeyOf(c);
      let asked: OperationRecord | undefined;
      const findQuestion = (record: OperationRecord) => {
        asked = assertNotExpired(record);
        return key;
      };
      const receipt = await context
        .engineOf(c)
        .answer(id, findQuestion, answer, ownKey)
        .catch((error: unknown) => {
          throw asAnswerProblem(error, asked?.inputRequests[key]?.schema);
        });
      const first = receipt.wasQueued ? 'queued' : 'accepted';
      const state = ownKey === undefined ? receipt.state : first;
      // Contains nothing of the job that changes, so a repeated answer gets the same response.
      const body = { key, action, id: receipt.id, state, job: { job_id: id, status_url: jobPath(id) } };
      return c.json(body, state === 'accepted' ? 200 : 202, { 'Cache-Control': 'no-store' });
    },
  );
}

/** Renames the engine's `content` to `body.value` in the error's message. */
function asAnswerProblem(error: unknown, schema: object | undefined): unknown {
  return isKind(error, 'invalid_answer')
    ? new Problem('invalid-answer', error.message.replaceAll(/^content\b/gm, 'body.value'), {
        ...(schema ? { members: { schema } } : {}),
        cause: error,
      })
    : error;
}

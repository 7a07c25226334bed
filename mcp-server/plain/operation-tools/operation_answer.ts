import { z } from 'zod';
import { isKind, LonghaulError } from '../../../operations/errors.js';
import type { Answer, OperationRecord } from '../../../operations/record.js';
import { inlineData } from '../../call/as-data.js';
import { answerAfter, startedSchema } from '../envelope/index.js';
import { plainStatus } from '../envelope/status.js';
import { refuse, token, defineOperationTool } from './operation-tool.js';

const input = z.strictObject({
  token,
  key: z.string().min(1).max(200).optional().describe('Optional if one question is open.'),
  action: z
    .enum(['accept', 'decline', 'cancel'])
    .default('accept')
    .describe(
      'decline: the work learns of the refusal. cancel: dismisses the question, which may be asked again.',
    ),
  content: z
    .record(z.string(), z.unknown())
    // The default, {}, means the same, but LlamaIndex presents it to its model as string values only.
    .meta({ additionalProperties: true })
    .optional()
    .describe("For accept, by the question's schema."),
});

export const operationAnswer = defineOperationTool({
  name: 'answer',
  title: 'Answer a question of an operation',
  description:
    'Answers a question of an operation in input_required. Ask the person unless you may decide yourself: an answer is final and may approve what cannot be undone. An invalid answer is refused, and the question stays open.',
  // Without a key, repeating the call could answer the next question.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input,
  output: startedSchema.extend({
    answered: z.object({ key: z.string(), action: z.string(), state: z.string(), id: z.string() }),
  }),
  async run(engine, _context, { token, key: givenKey, action, content }) {
    if (action !== 'accept' && content !== undefined)
      refuse(`arguments.content: expected none with action "${action}"; got ${JSON.stringify(content)}`);
    const answer: Answer = action === 'accept' ? { action, content: content ?? {} } : { action };
    let asked: { record: OperationRecord; key: string } | undefined;
    const findQuestion = (record: OperationRecord) => {
      const key = questionKey(record, givenKey);
      asked = { record, key };
      return key;
    };
    const { id, state, record } = await engine.answer(token, findQuestion, answer).catch((error: unknown) => {
      if (asked && isKind(error, 'wrong_state')) throw notOpen(error, asked.record, asked.key);
      throw asked && isKind(error, 'invalid_answer') ? invalidAnswer(error, asked.record, asked.key) : error;
    });
    const { key } = asked!;
    const done =
      state === 'accepted'
        ? `Answered ${key}: ${action}.`
        : `Answer to ${key} (${action}) is queued until a worker is available.`;
    return answerAfter(engine, record, done, { token, answered: { key, action, id, state } });
  },
});

/** The question to answer. @throws LonghaulError `wrong_state` if no question is open; `invalid_arguments` if the key is missing */
function questionKey(record: OperationRecord, given: string | undefined): string {
  if (given !== undefined) return given;
  const open = Object.keys(record.inputRequests);
  if (open.length === 0)
    throw new LonghaulError('wrong_state', `the operation is ${plainStatus(record)}: no question is open`);
  if (open.length > 1)
    refuse(
      `arguments.key: expected one of ${open.join(', ')}, since several questions are open; got nothing`,
    );
  return open[0]!;
}

/** The error for a key without an open question. For an answered one, the engine's error, which names who answered. */
function notOpen(error: LonghaulError, record: OperationRecord, key: string): LonghaulError {
  const open = Object.keys(record.inputRequests);
  if (open.includes(key) || record.answers?.some((answered) => answered.key === key)) return error;
  const named = JSON.stringify(key);
  return new LonghaulError(
    'wrong_state',
    open.length > 0
      ? `the question ${named} is not open: it was already answered, or never asked; open: ${open.join(', ')}`
      : `the operation is ${plainStatus(record)}: no question is open, and ${named} may have been answered already`,
  );
}

function invalidAnswer({ message }: LonghaulError, { inputRequests }: OperationRecord, key: string) {
  const { [key]: asked } = inputRequests;
  if (!asked) return new LonghaulError('invalid_answer', message);
  const { message: question, schema } = asked;
  return new LonghaulError(
    'invalid_answer',
    [
      message,
      `Question ${key}: ${inlineData(question)}`,
      `Schema of its content: ${inlineData(schema)}`,
    ].join('\n'),
  );
}

/**
 * Questions to the user, as elicitation requests on a waiting call's stream (specs: 2025-11-25 client/elicitation). Each request's
 * sealed ID identifies the question, so any process can take the answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RELATED_TASK_META_KEY, type JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import type { Answer, InputRequest, OperationRecord } from '../../operations/record.js';
import { association } from '../sep-1391/render.js';
import { elicitResult } from '../call/elicitation.js';
import { operationTokenOf } from '../json/message-problem.js';
import type { AskedQuestion, LegacyContext, CallStream } from './context.js';
import { featuresOf, scopeOf, type Session } from './session.js';

/** Delay of a task's question on a session's own stream, in milliseconds. A waiting call shows it first. */
const LISTENER_REST_MS = 2_000;
/** Back-off before a stream shows the same question again, in milliseconds. Doubles each time. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Time limit and interval of retries of an answer while Temporal can't be reached, in milliseconds. */
const ANSWER_LIMIT_MS = 30_000;
const ANSWER_RETRY_MS = 1_000;

/** Key of a question among all that this process shows. */
export function questionId({ nonce }: Pick<Session, 'nonce'>, token: string, key: string): string {
  return JSON.stringify([nonce, token, key]);
}

/** Source of a question: a plain call, a task, a SEP-1391 operation, or a two-stage job. */
export type AskedBy = 'call' | 'task' | 'operation' | 'job';

/** Fields that name a question's source. */
const ASSOCIATIONS: Record<AskedBy, (token: string) => object> = {
  call: () => ({}),
  task: (taskId) => ({ _meta: { [RELATED_TASK_META_KEY]: { taskId } } }),
  operation: association,
  job: (jobId) => ({ job_id: jobId }),
};

type QuestionStream = Pick<CallStream, 'send'>;

/** Shows one operation's questions on one stream. */
export class Questions {
  /** Keys that were shown, or that a timer will show. */
  readonly #resting = new Map<string, NodeJS.Timeout | undefined>();
  /** How often each question was shown, under any key. */
  readonly #times = new Map<string, number>();
  /** Questions that this stream has claimed in `shownQuestions`. */
  readonly #shown = new Set<string>();

  constructor(
    private readonly context: LegacyContext,
    private readonly session: Session,
    private readonly stream: QuestionStream,
    private readonly by: AskedBy,
    private readonly isListener = false,
  ) {}

  /** Shows each open question once. A question repeated under a new key appears after a back-off. */
  async show({ token, inputRequests }: OperationRecord): Promise<void> {
    for (const [key, timer] of this.#resting) if (!(key in inputRequests)) clearTimeout(timer);
    for (const [key, asked] of Object.entries(inputRequests)) {
      if (this.#resting.has(key)) continue;
      const question = JSON.stringify([asked.message, asked.schema]);
      const times = this.#times.get(question) ?? 0;
      this.#times.set(question, times + 1);
      const send = () => this.#send(token, key, asked);
      const restMs = this.#restMs(times);
      if (restMs === 0) {
        this.#resting.set(key, undefined);
        await send();
        continue;
      }
      this.#resting.set(
        key,
        setTimeout(() => void send(), restMs),
      );
    }
  }

  /** Cancels pending questions and releases shown ones. */
  close(): void {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    for (const question of this.#shown) this.context.shownQuestions.delete(question);
  }

  #restMs(times: number): number {
    // Only a task's questions can also appear on a waiting call's stream.
    if (times === 0) return this.isListener && this.by === 'task' ? LISTENER_REST_MS : 0;
    return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (times - 1));
  }

  async #send(token: string, key: string, { message, schema }: InputRequest): Promise<void> {
    const { principal, nonce, version } = this.session;
    const { tasks } = featuresOf(version);
    const question = questionId(this.session, token, key);
    if (this.context.shownQuestions.has(question)) return;
    this.context.shownQuestions.add(question);
    this.#shown.add(question);
    await this.stream.send({
      jsonrpc: '2.0',
      id: this.context.questions.seal({
        token,
        key,
        principal,
        session: nonce,
        ...(this.by === 'operation' ? { isOperation: true } : {}),
      }),
      method: 'elicitation/create',
      params: {
        ...(tasks ? { mode: 'form' } : {}),
        message,
        requestedSchema: schema,
        ...ASSOCIATIONS[this.by](token),
      },
    });
  }
}

/**
 * Takes a client's response. An invalid answer dismisses its question, which is asked again under a new key, in whichever process
 * the call waits.
 *
 * @returns false if the response doesn't answer a question of this session
 * @throws LonghaulError `unavailable` if Temporal can't be reached for 30 s; `invalid_answer` if the response lacks the asking
 *   operation's token, which leaves the question open
 */
export async function takeResponse(
  context: LegacyContext,
  session: Session,
  response: JSONRPCResponse,
): Promise<boolean> {
  const asked = typeof response.id === 'string' ? context.questions.open(response.id) : undefined;
  if (!asked || asked.session !== session.nonce || asked.principal !== session.principal) return false;
  const { token, key } = asked;
  const log = context.logger.child({ token, key, client: session.clientName });
  if (asked.isOperation) assertCarriesToken(context, asked, response);
  if ('error' in response) {
    log.warn({ reason: response.error.message }, 'the client could not show a question; it stays open');
    return true;
  }
  const parsed = elicitResult.safeParse(response.result);
  if (!parsed.success)
    log.warn('the action of an answer was not accept, decline or cancel; the question is asked again');
  try {
    await answer(context, asked, parsed.data ?? { action: 'cancel' });
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'invalid_answer') {
      log.warn({ reason: error.message }, "an answer doesn't fit its question, which is asked again");
      await answer(context, asked, { action: 'cancel' }).catch(ignoreIfClosed);
    } else {
      ignoreIfClosed(error);
      log.debug({ reason: error.message }, 'an answer came too late');
    }
  }
  return true;
}

/** SEP-1391: "the client MUST respond with the same _operation.token". */
function assertCarriesToken(
  context: LegacyContext,
  { token, key, session: nonce }: AskedQuestion,
  response: JSONRPCResponse,
): void {
  if ('error' in response) return;
  const given = (response.result as Record<string, unknown>)['_operation'];
  if (operationTokenOf(response.result) === token) return;
  const question = questionId({ nonce }, token, key);
  context.shownQuestions.delete(question);
  context.questionBackoffs.set(question, { until: 0 });
  throw new LonghaulError(
    'invalid_answer',
    `result._operation.token: expected the token of the operation that asked; got ${JSON.stringify(given) ?? 'nothing'}`,
  );
}

/** Ignores errors of a question that was answered elsewhere, is for others, or belongs to a closed operation. */
function ignoreIfClosed(error: unknown): void {
  const ignored = ['wrong_state', 'forbidden', 'not_found', 'expired'];
  if (error instanceof LonghaulError && ignored.includes(error.kind)) return;
  throw error;
}

/** Retries while Temporal can't be reached, since the client sends its answer only once. */
async function answer(
  { engine, shutdown }: LegacyContext,
  { token, key }: AskedQuestion,
  given: Answer,
): Promise<void> {
  const deadlineMs = performance.now() + ANSWER_LIMIT_MS;
  for (;;) {
    try {
      await engine.answer(token, key, given);
      return;
    } catch (error) {
      const isLast = performance.now() > deadlineMs || shutdown.hasBegun;
      if (!isKind(error, 'unavailable') || isLast) throw error;
      await delay(ANSWER_RETRY_MS);
    }
  }
}

/** Back-off after a question was shown with a status, in milliseconds. Doubles each time. */
const FIRST_STATUS_REST_MS = 60_000;
const LONGEST_STATUS_REST_MS = 3_600_000;

/**
 * Shows an operation's or job's open questions that no other stream shows, and those with a refused answer, on the stream of
 * tools/async/status or tools/poll_result. That is for sessions without a stream of their own. Clients poll repeatedly while a user
 * needs time, so each question has a back-off. Each process keeps its own: another one may show the question again, and the first
 * answer counts.
 */
export async function showQuestionsWithStatus(
  context: LegacyContext,
  session: Session,
  stream: CallStream,
  record: OperationRecord,
  by: 'operation' | 'job',
): Promise<void> {
  if (!session.elicitation) return;
  const listed = scopeOf(session, by === 'operation' ? 'operations' : 'jobs');
  const isListening = context.notifier.isListening(listed);
  const due = Object.entries(record.inputRequests).filter(([key]) => {
    const rest = context.questionBackoffs.get(questionId(session, record.token, key));
    return rest ? rest.until <= performance.now() : !isListening;
  });
  for (const [key] of due) rest(context, questionId(session, record.token, key));
  const questions = new Questions(context, session, stream, by);
  try {
    await questions.show({ ...record, inputRequests: Object.fromEntries(due) });
  } finally {
    questions.close();
  }
}

function rest({ questionBackoffs }: LegacyContext, question: string): void {
  const restMs = questionBackoffs.get(question)?.nextMs ?? FIRST_STATUS_REST_MS;
  questionBackoffs.set(question, {
    until: performance.now() + restMs,
    nextMs: Math.min(LONGEST_STATUS_REST_MS, restMs * 2),
  });
}

/**
 * Questions to the person, as elicitation on a waiting call's stream (specs: 2025-11-25 client/elicitation). The ID of
 * each request is sealed and says which question it is, so any process can take the answer.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RELATED_TASK_META_KEY, type JSONRPCResponse } from '@modelcontextprotocol/sdk/types.js';
import { LonghaulError } from '../../operations/errors.js';
import type { Answer, InputRequest, OperationRecord } from '../../operations/record.js';
import { elicitResult } from '../shared/elicitation.js';
import { operationTokenOf } from '../shared/raw-call.js';
import type { AskedQuestion, OlderEra } from './context.js';
import { featuresOf, type Session } from './session.js';
import type { CallStream } from './waits.js';

/** How long a session's own stream leaves it to a call to show a question of a task, in milliseconds. */
const LISTENER_REST_MS = 2_000;
/** How long the same question rests before it is shown again on a stream, in milliseconds; doubled each time. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** For how long an answer is tried again while Temporal is out of reach, and how often, in milliseconds. */
const ANSWER_LIMIT_MS = 30_000;
const ANSWER_RETRY_MS = 1_000;

/** Names a question among all that this process shows. */
export function questionId({ nonce }: Pick<Session, 'nonce'>, token: string, key: string): string {
  return JSON.stringify([nonce, token, key]);
}

/** What asks: a plain call, a task, an operation of SEP-1391, or a two-stage job. */
export type AskedBy = 'call' | 'task' | 'operation' | 'job';

/** Where questions are shown. */
type QuestionStream = Pick<CallStream, 'send'>;

/** Shows the questions of one operation on one stream. */
export class Questions {
  /** Keys that were shown, or rest until they are. */
  readonly #resting = new Map<string, NodeJS.Timeout | undefined>();
  /** How often each question was shown, whatever its key. */
  readonly #times = new Map<string, number>();
  /** What no other stream shows meanwhile. */
  readonly #shown = new Set<string>();

  constructor(
    private readonly era: OlderEra,
    private readonly session: Session,
    private readonly stream: QuestionStream,
    private readonly by: AskedBy,
    /** Is it the session's own stream? */
    private readonly isListener = false,
  ) {}

  /** Shows each open question once; one that comes again under a new key, after a rest. */
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

  /** No question is shown any more. */
  close(): void {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    for (const question of this.#shown) this.era.shown.delete(question);
  }

  #restMs(times: number): number {
    // Only of a task can a call show them too.
    if (times === 0) return this.isListener && this.by === 'task' ? LISTENER_REST_MS : 0;
    return Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (times - 1));
  }

  async #send(token: string, key: string, { message, schema }: InputRequest): Promise<void> {
    const { principal, nonce, version } = this.session;
    const { tasks } = featuresOf(version);
    const question = questionId(this.session, token, key);
    if (this.era.shown.has(question)) return;
    this.era.shown.add(question);
    this.#shown.add(question);
    await this.stream.send({
      jsonrpc: '2.0',
      id: this.era.questions.seal({
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
        ...(this.by === 'task' ? { _meta: { [RELATED_TASK_META_KEY]: { taskId: token } } } : {}),
        ...(this.by === 'operation' ? { _operation: { token } } : {}),
        ...(this.by === 'job' ? { job_id: token } : {}),
      },
    });
  }
}

/**
 * Takes a client's response. An answer that doesn't fit dismisses its question, which then comes again under a new
 * key, wherever the call waits.
 *
 * @returns false when it answers nothing that this session was asked
 * @throws LonghaulError `unavailable` when Temporal stays out of reach; `invalid_answer` when it lacks the token of the
 *   operation that asks, whose question stays open
 */
export async function takeResponse(
  era: OlderEra,
  session: Session,
  response: JSONRPCResponse,
): Promise<boolean> {
  const asked = typeof response.id === 'string' ? era.questions.open(response.id) : undefined;
  if (!asked || asked.session !== session.nonce || asked.principal !== session.principal) return false;
  const { token, key } = asked;
  const log = era.logger.child({ token, key, client: session.clientName });
  if (asked.isOperation) assertCarriesToken(era, asked, response);
  if ('error' in response) {
    log.warn({ reason: response.error.message }, 'the client could not show a question; it stays open');
    return true;
  }
  const parsed = elicitResult.safeParse(response.result);
  if (!parsed.success) log.warn('an answer was none of accept, decline and cancel; the question comes again');
  try {
    await answer(era, asked, parsed.data ?? { action: 'cancel' });
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'invalid_answer') {
      log.warn({ reason: error.message }, "an answer doesn't fit its question, which comes again");
      await answer(era, asked, { action: 'cancel' }).catch(ignoreIfClosed);
    } else {
      ignoreIfClosed(error);
      log.debug({ reason: error.message }, 'an answer came too late');
    }
  }
  return true;
}

/** SEP-1391: "the client MUST respond with the same _operation.token". */
function assertCarriesToken(
  era: OlderEra,
  { token, key, session: nonce }: AskedQuestion,
  response: JSONRPCResponse,
): void {
  if ('error' in response) return;
  const given = (response.result as Record<string, unknown>)['_operation'];
  if (operationTokenOf(response.result) === token) return;
  const question = questionId({ nonce }, token, key);
  era.shown.delete(question);
  era.rests.set(question, { until: 0 });
  throw new LonghaulError(
    'invalid_answer',
    `result._operation.token: expected the token of the operation that asked; got ${JSON.stringify(given) ?? 'nothing'}`,
  );
}

/** The question was answered by somebody else, or its operation is closed: there is nothing to do. */
function ignoreIfClosed(error: unknown): void {
  if (error instanceof LonghaulError && ['wrong_state', 'not_found', 'expired'].includes(error.kind)) return;
  throw error;
}

/** The client sends its answer once, so it is kept trying while Temporal is away. */
async function answer(
  { engine, closing }: OlderEra,
  { principal, token, key }: AskedQuestion,
  given: Answer,
): Promise<void> {
  const deadlineMs = Date.now() + ANSWER_LIMIT_MS;
  for (;;) {
    try {
      await engine.answer(principal, token, key, given);
      return;
    } catch (error) {
      const isLast = Date.now() > deadlineMs || closing.hasBegun;
      if (!(error instanceof LonghaulError && error.kind === 'unavailable') || isLast) throw error;
      await delay(ANSWER_RETRY_MS);
    }
  }
}

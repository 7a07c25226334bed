/** A handle on an operation of a test environment, like Temporal's WorkflowHandle. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { historyToJSON } from '../platform/temporal/internal/history-json.js';
import { answersOf, isClosed, progressOf, type Task } from '../cli/client/wire.js';
import { logUri } from '../mcp-server/shared/resource-links.js';
import { OPERATION_LOG } from '../operations/log-page.js';
import type { Answer, AnsweredRequest, OperationStatus, Progress } from '../operations/record.js';
import type { JsonSchema } from '../operations/schema.js';
import type { TestClient } from './client.js';
import { OperationFailedError, WaitTimeoutError } from './errors.js';

/** How long waits take at most unless their caller says otherwise, in milliseconds. */
const WAIT_LIMIT_MS = 60_000;

/** An open question of an operation. */
export interface Question {
  /** Under which it is answered: `input-1`; of a child workflow `NAME/input-1`. */
  key: string;
  message: string;
  /** Flat JSON Schema of an answer's content. */
  schema: JsonSchema;
}

/** Where an operation stands. */
export interface OperationDescription {
  status: OperationStatus;
  /** One short line for people. */
  statusMessage?: string;
  stage?: string;
  /** In the tool's own units. It never goes back. */
  progress?: Progress;
  /** Open questions. */
  questions: Question[];
  /** Their answers, the latest 20; also queued ones, and the latest 10 that were refused after they had been queued. */
  answers: AnsweredRequest[];
}

export interface WaitOptions {
  /** How long to wait at most, in milliseconds. Default: 60,000. */
  timeoutMs?: number;
}

/** @typeParam Output type of the tool's result */
export class OperationHandle<Output = unknown> {
  readonly #server: TestClient;
  readonly #temporal: Client;

  /** @internal */
  constructor(
    /** The operation's token, which is also its task ID in MCP and its workflow ID in Temporal. */
    readonly token: string,
    server: TestClient,
    temporal: Client,
  ) {
    this.#server = server;
    this.#temporal = temporal;
  }

  /** Reads where the operation stands. @throws LonghaulError `not_found`, `expired`, `unavailable` */
  async describe(): Promise<OperationDescription> {
    return descriptionOf(await this.#server.task(this.token));
  }

  /**
   * Waits for the result.
   *
   * @throws OperationFailedError when the operation ends without one: failed, canceled, timed out, terminated
   * @throws WaitTimeoutError
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    const task = await this.#waitFor('it has ended', (_now, one) => isClosed(one), options);
    if (task.status === 'completed')
      return (task.result?.structuredContent ?? (await this.#server.value(this.token, 'result'))) as Output;
    const { error } = await this.#server.job(this.token);
    const otherwise = {
      kind: 'failed',
      message: task.statusMessage ?? task.status,
      retryable: false,
    } as const;
    throw new OperationFailedError(task.status, error ?? otherwise, await this.partial());
  }

  /** Waits until the operation has ended, however it does. @returns its last state. @throws WaitTimeoutError */
  async closed(options: WaitOptions = {}): Promise<OperationDescription> {
    return descriptionOf(await this.#waitFor('it has ended', (_now, task) => isClosed(task), options));
  }

  /**
   * Waits until a condition holds.
   *
   * @param condition a status, or a function of the state, which is called at each change of the operation. One that reads anything
   *   else, such as a partial result or a file, may be called too late
   * @returns the first state in which it held. Short states may be missed
   * @throws WaitTimeoutError when the time is up, Error when the operation has ended and it can't hold any more
   */
  async until(
    condition: OperationStatus | ((now: OperationDescription) => boolean),
    options: WaitOptions = {},
  ): Promise<OperationDescription> {
    const [wanted, holds] =
      typeof condition === 'function'
        ? ['the condition holds', condition]
        : [`its status is ${condition}`, (now: OperationDescription) => now.status === condition];
    return descriptionOf(await this.#waitFor(wanted, holds, options));
  }

  /** Every state that differs from the one before, to the end of the operation. Breaking out of the loop ends the watch. */
  async *watch(): AsyncGenerator<OperationDescription> {
    const leaving = new AbortController();
    try {
      for await (const task of this.#server.watch(this.token, leaving.signal)) yield descriptionOf(task);
    } finally {
      leaving.abort();
    }
  }

  /**
   * Waits until a question is open.
   *
   * @param options.key of which question. Default: any
   * @throws WaitTimeoutError; Error when the operation ends without asking
   */
  async question({ key, ...options }: WaitOptions & { key?: string } = {}): Promise<Question> {
    const find = (now: OperationDescription) =>
      now.questions.find((one) => key === undefined || one.key === key);
    const wanted = `${key === undefined ? 'a question' : `question ${key}`} is open`;
    return find(descriptionOf(await this.#waitFor(wanted, (now) => find(now) !== undefined, options)))!;
  }

  /**
   * Answers an open question.
   *
   * @param answer `{ action: 'accept', content }`, `{ action: 'decline' }`, or `{ action: 'cancel' }`: dismisses it, and it is
   *   asked again under a new key
   * @param key of the question. Default: the one that is open
   * @throws LonghaulError `wrong_state` when it isn't open, `invalid_answer` when the content doesn't fit its schema (it stays
   *   open), `invalid_arguments` when several are open and no key is given
   */
  async answer(answer: Answer, key?: string): Promise<void> {
    await this.#server.callOperationTool('operation_answer', {
      token: this.token,
      ...answer,
      ...(key === undefined ? {} : { key }),
    });
  }

  /** Requests cancellation, without waiting for the end. @returns whether the operation was open */
  async cancel(reason?: string): Promise<boolean> {
    const { was_open } = await this.#server.callOperationTool('operation_cancel', {
      token: this.token,
      ...(reason === undefined ? {} : { reason }),
    });
    return was_open === true;
  }

  /** Partial result so far, or at the end of an operation without a result; undefined if there is none. */
  async partial(): Promise<unknown> {
    const { partial, partial_bytes } = await this.#server.job(this.token);
    return partial_bytes === undefined ? partial : this.#server.value(this.token, 'partial');
  }

  /**
   * Lines of the operation's log, up to now; of a closed operation all.
   *
   * @param step of a pipeline, e.g. `build/2`. Default: the operation's own log
   */
  async logs(step = OPERATION_LOG): Promise<string[]> {
    const text = await this.#server.log(logUri(this.token, step));
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }

  /** Files that the operation has left; sizes in bytes. */
  async artifacts(): Promise<{ name: string; contentType: string; bytes?: number }[]> {
    const artifacts = await this.#server.artifacts(this.token);
    return artifacts.map(({ name, content_type, bytes }) => ({
      name,
      contentType: content_type,
      ...(bytes === undefined ? {} : { bytes }),
    }));
  }

  /** Reads a file that the operation has left. @throws LonghaulError `not_found` */
  artifact(name: string): Promise<Buffer> {
    return this.#server.artifact(this.token, name);
  }

  /** The event history of the operation's workflow in Temporal: that of its latest run, without its child workflows. */
  fetchHistory(): Promise<History> {
    return this.#temporal.workflow.getHandle(this.token).fetchHistory();
  }

  /**
   * Writes the event history to a file, as JSON that `TestToolEnvironment.replay` and Temporal's own tools read. Values over
   * 256 KiB aren't in it: a history with such values replays only in the environment that it comes from.
   */
  async saveHistory(path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${historyToJSON(await this.fetchHistory())}\n`);
  }

  async #waitFor(
    wanted: string,
    holds: (now: OperationDescription, task: Task) => boolean,
    { timeoutMs = WAIT_LIMIT_MS }: WaitOptions,
  ): Promise<Task> {
    const late = new AbortController();
    // With a reason of this realm: in Jest, those of Node's core aren't instances of Error.
    const timer = setTimeout(() => late.abort(new Error('late')), timeoutMs);
    let last: Task | undefined;
    try {
      for await (const task of this.#server.watch(this.token, late.signal)) {
        last = task;
        if (holds(descriptionOf(task), task)) return task;
      }
    } finally {
      clearTimeout(timer);
    }
    const state = last ? JSON.stringify(descriptionOf(last)) : 'never read';
    if (last && isClosed(last)) throw new Error(`operation ${this.token} ended before ${wanted}: ${state}`);
    throw new WaitTimeoutError(
      `operation ${this.token}: timed out after ${timeoutMs} ms, waiting until ${wanted}; last state: ${state}`,
    );
  }
}

function descriptionOf(task: Task): OperationDescription {
  const { stage, ...progress } = progressOf(task);
  return {
    status: task.status,
    ...(task.statusMessage === undefined ? {} : { statusMessage: task.statusMessage }),
    ...(stage === undefined ? {} : { stage }),
    ...(progress.progress === undefined ? {} : { progress: progress as Progress }),
    questions: Object.entries(task.inputRequests ?? {}).map(([key, { params }]) => ({
      key,
      message: params?.message ?? '',
      schema: params?.requestedSchema ?? {},
    })),
    answers: answersOf(task),
  };
}

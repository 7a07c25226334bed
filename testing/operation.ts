/** A handle on an operation of a test environment, like Temporal's WorkflowHandle. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { historyToJSON } from '../platform/temporal/internal/history-json.js';
import { answersOf, isClosed, progressOf, type Task } from '../cli/client/wire.js';
import { logUri } from '../mcp-server/links/resource-links.js';
import { OPERATION_LOG } from '../operations/wire/log-page.js';
import type { Answer, AnsweredRequest, OperationStatus, Progress } from '../operations/record.js';
import type { JsonSchema } from '../operations/tool/schema.js';
import type { TestClient } from './client.js';
import { OperationFailedError, WaitTimeoutError } from './errors.js';

/** Default limit of a wait, in milliseconds. */
const WAIT_LIMIT_MS = 60_000;

export interface Question {
  /** Key to answer it with: `input-1`, or `NAME/input-1` in a child workflow. */
  key: string;
  message: string;
  /** Flat JSON Schema for the content of an answer. */
  schema: JsonSchema;
}

export interface OperationDescription {
  status: OperationStatus;
  statusMessage?: string;
  stage?: string;
  /** In the tool's own units. Never decreases. */
  progress?: Progress;
  questions: Question[];
  /** Latest 20 answers, including queued ones, and the latest 10 that were refused after they were queued. */
  answers: AnsweredRequest[];
}

export interface WaitOptions {
  /** Longest wait in milliseconds. Default: 60,000. */
  timeoutMs?: number;
}

/** @typeParam Output type of the tool's result */
export class OperationHandle<Output = unknown> {
  readonly #server: TestClient;
  readonly #temporal: Client;

  /** @internal */
  constructor(
    /** The operation's token, which is also its MCP task ID and Temporal workflow ID. */
    readonly token: string,
    server: TestClient,
    temporal: Client,
  ) {
    this.#server = server;
    this.#temporal = temporal;
  }

  /** Reads the operation's current state. @throws LonghaulError `not_found`, `expired`, `unavailable` */
  async describe(): Promise<OperationDescription> {
    return descriptionOf(await this.#server.task(this.token));
  }

  /**
   * Waits for the result.
   *
   * @throws OperationFailedError when the operation ends without a result: failed, canceled, timed out, terminated
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

  /** Waits until the operation ends, with or without a result. @returns its last state. @throws WaitTimeoutError */
  async closed(options: WaitOptions = {}): Promise<OperationDescription> {
    return descriptionOf(await this.#waitFor('it has ended', (_now, task) => isClosed(task), options));
  }

  /**
   * Waits until a condition holds.
   *
   * @param condition a status, or a function called at each change of the operation. Don't test anything else in it, such as a
   *   file or a partial result: a change there doesn't call it
   * @returns the first state seen that matches. It may miss short-lived states
   * @throws WaitTimeoutError; Error when the operation ended and the condition can no longer hold
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

  /** Yields the state at each change until the operation ends. Break out of the loop to stop watching. */
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
   * @param options.key the question to wait for. Default: any
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
   * @param answer `{ action: 'accept', content }`, `{ action: 'decline' }`, or `{ action: 'cancel' }`, which dismisses the
   *   question: it is asked again under a new key
   * @param key of the question. Default: the only open one
   * @throws LonghaulError `wrong_state` when it isn't open, `invalid_answer` when the content doesn't fit its schema (it stays
   *   open), `invalid_arguments` when several are open and you give no key
   */
  async answer(answer: Answer, key?: string): Promise<void> {
    await this.#server.callOperationTool('operation_answer', {
      token: this.token,
      ...answer,
      ...(key === undefined ? {} : { key }),
    });
  }

  /** Requests cancellation without waiting for the end. @returns whether the operation was open */
  async cancel(reason?: string): Promise<boolean> {
    const { was_open } = await this.#server.callOperationTool('operation_cancel', {
      token: this.token,
      ...(reason === undefined ? {} : { reason }),
    });
    return was_open === true;
  }

  /** The latest partial result, also after the operation closed without a result; undefined if there is none. */
  async partial(): Promise<unknown> {
    const { partial, partial_bytes } = await this.#server.job(this.token);
    return partial_bytes === undefined ? partial : this.#server.value(this.token, 'partial');
  }

  /**
   * Lines of the operation's log so far. A closed operation's log is complete.
   *
   * @param step of a pipeline, e.g. `build/2`. Default: the operation's own log
   */
  async logs(step = OPERATION_LOG): Promise<string[]> {
    const text = await this.#server.log(logUri(this.token, step));
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }

  /** The operation's artifacts. Sizes are in bytes. */
  async artifacts(): Promise<{ name: string; contentType: string; bytes?: number }[]> {
    const artifacts = await this.#server.artifacts(this.token);
    return artifacts.map(({ name, content_type, bytes }) => ({
      name,
      contentType: content_type,
      ...(bytes === undefined ? {} : { bytes }),
    }));
  }

  /** Reads an artifact. @throws LonghaulError `not_found` */
  artifact(name: string): Promise<Buffer> {
    return this.#server.artifact(this.token, name);
  }

  /** Temporal's event history of the latest run, without child workflows. */
  fetchHistory(): Promise<History> {
    return this.#temporal.workflow.getHandle(this.token).fetchHistory();
  }

  /**
   * Writes the event history as JSON, for `TestToolEnvironment.replay` and Temporal's own tools.
   * Values over 256 KiB aren't included, so such a history replays only in its own environment.
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
    // Create the reason in this realm: in Jest, errors of Node's core aren't instances of Error.
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

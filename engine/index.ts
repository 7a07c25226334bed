/**
 * The engine: operations over Temporal's client. It knows nothing of MCP and keeps nothing that Temporal doesn't
 * hold. Every verb takes the principal who asks.
 */
import { randomUUID } from 'node:crypto';
import { LonghaulError } from '../operations/errors.js';
import type { LogPage, LogQuery } from '../operations/log-page.js';
import { isTerminal, type Answer, type OperationRecord } from '../operations/record.js';
import { check, withDefaults } from '../operations/schema.js';
import { workflowIdOf } from '../operations/token.js';
import { fixedEstimateSeconds, type Tool } from '../operations/tool.js';
import { OPERATION_QUERY, type StateMemo } from '../operations/wire.js';
import { artifactKey, type Storage } from '../platform/storage.js';
import type { Tools } from '../platform/tools.js';
import { answerOperation } from './answer.js';
import { Estimates } from './estimates.js';
import { listOperations, type ListFilter, type OperationPage } from './list.js';
import { readStepLog } from './logs/index.js';
import { Mailbox } from './mailbox/index.js';
import { readOperation } from './read.js';
import { resumeOperation, type ResumeOptions } from './resume.js';
import { startOperation, type StartOptions } from './start.js';
import type { EngineTemporal } from './temporal.js';
import { Watches, type WatchOptions } from './watch.js';

export type { ListFilter, OperationPage } from './list.js';
export type { StartOptions } from './start.js';
export { EngineTemporal } from './temporal.js';

/** Largest arguments of a call, in bytes of JSON: 1 MiB. */
export const ARGUMENTS_LIMIT_BYTES = 1024 * 1024;
export class Engine {
  readonly #estimates: Estimates;
  readonly #watches: Watches;
  /** Agents that wait for work, and what they send each other. */
  readonly mailbox: Mailbox;

  constructor(
    readonly temporal: EngineTemporal,
    readonly tools: Tools,
    private readonly secret: Buffer,
    private readonly storage: Storage,
  ) {
    this.#estimates = new Estimates(temporal);
    this.#watches = new Watches(temporal);
    this.mailbox = new Mailbox(temporal, this.#watches, secret, storage);
  }

  /** @throws LonghaulError `unknown_tool` */
  tool(name: string): Tool {
    this.tools.refresh();
    const tool = this.tools.get(name);
    if (tool) return tool;
    const problem = this.tools.problemOf(name);
    throw new LonghaulError(
      'unknown_tool',
      problem === undefined
        ? `unknown tool "${name}"; known are ${this.tools.keys().join(', ') || 'none'}`
        : `tool "${name}" can't be used until its file is mended:\n${problem}`,
    );
  }

  /**
   * Checks a call's arguments and fills in defaults.
   *
   * @throws LonghaulError `invalid_arguments` with a line for each problem, `too_large`
   */
  checkArguments(tool: Tool, args: unknown): Record<string, unknown> {
    const bytes = Buffer.byteLength(JSON.stringify(args ?? {}));
    if (bytes > ARGUMENTS_LIMIT_BYTES) {
      throw new LonghaulError(
        'too_large',
        `arguments: expected at most ${ARGUMENTS_LIMIT_BYTES} bytes; got ${bytes}. Pass large data by reference.`,
      );
    }
    const filled = withDefaults(tool.inputSchema, args ?? {});
    const problems = check(tool.inputSchema, filled, 'arguments');
    if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
    return filled as Record<string, unknown>;
  }

  /**
   * Starts an operation: one StartWorkflow, which alone decides. A repeated start with the same arguments under the
   * same token or key gives the operation that is there.
   *
   * @returns the record, once the operation is durable
   * @throws LonghaulError `unknown_tool`, `invalid_arguments`, `too_large`, `conflict`, `unavailable`
   */
  async start(
    principal: string,
    toolName: string,
    args: unknown,
    options: StartOptions = {},
  ): Promise<OperationRecord> {
    const tool = this.tool(toolName);
    const checked = this.checkArguments(tool, args);
    const estimateSeconds = this.#estimates.of(tool.name) ?? fixedEstimateSeconds(tool, checked);
    return startOperation(this.temporal, this.secret, {
      principal,
      tool,
      args: checked,
      estimateSeconds,
      options,
    });
  }

  /**
   * Reads an operation; needs no worker.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async read(principal: string, token: string): Promise<OperationRecord> {
    const record = await readOperation(
      this.temporal,
      principal,
      token,
      workflowIdOf(principal, token, this.secret),
    );
    const { error } = record;
    const isRetryable =
      error?.type !== undefined && this.tools.get(record.tool)?.retryableErrors.includes(error.type);
    return isRetryable ? { ...record, error: { ...error, retryable: true } } : record;
  }

  /**
   * Reads an operation with what only its workflow holds (large partial results, children); falls back to {@link read}, with
   * `live: false`, when no worker answers.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async readLive(principal: string, token: string): Promise<OperationRecord> {
    const record = await this.read(principal, token);
    if (record.status === 'expired' || (isTerminal(record.status) && !record.areChildrenLarge)) return record;
    try {
      const { partial, children } = await this.#query(workflowIdOf(principal, token, this.secret));
      const { areChildrenLarge: _read, ...rest } = record;
      return {
        ...rest,
        ...(partial === undefined ? {} : { partial }),
        ...(children === undefined ? {} : { children }),
        live: true,
      };
    } catch {
      return record;
    }
  }

  readonly #queries = new Map<string, Promise<StateMemo>>();

  /** Temporal buffers one query a workflow: whoever asks meanwhile gets the same answer. */
  #query(workflowId: string): Promise<StateMemo> {
    let query = this.#queries.get(workflowId);
    if (!query) {
      query = this.temporal
        .call((client) => client.workflow.getHandle(workflowId).query<StateMemo>(OPERATION_QUERY))
        .finally(() => this.#queries.delete(workflowId));
      this.#queries.set(workflowId, query);
    }
    return query;
  }

  /** The operation now and at each change, until it is closed or the signal fires. */
  watch(principal: string, token: string, options: WatchOptions): AsyncGenerator<OperationRecord> {
    return this.#watches.watch(
      workflowIdOf(principal, token, this.secret),
      () => this.read(principal, token),
      options,
    );
  }

  /**
   * Answers an input request. Of two racing answers exactly one is accepted.
   *
   * @returns `accepted` once the operation has it; `queued` when no worker was there to take it yet
   * @throws LonghaulError `wrong_state` for a key that isn't open, `invalid_answer`, `not_found`, `unavailable`
   */
  async answer(
    principal: string,
    token: string,
    key: string,
    answer: Answer,
  ): Promise<'accepted' | 'queued'> {
    const read = () => this.read(principal, token);
    return answerOperation(this.temporal, workflowIdOf(principal, token, this.secret), read, key, answer);
  }

  /**
   * Requests cancellation; a closed operation stays as it is.
   *
   * @returns was it open?
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async cancel(principal: string, token: string, reason?: string): Promise<boolean> {
    const record = await this.read(principal, token);
    if (isTerminal(record.status)) return false;
    const workflowId = workflowIdOf(principal, token, this.secret);
    try {
      await this.temporal.call((client) =>
        client.workflowService.requestCancelWorkflowExecution({
          namespace: this.temporal.namespace,
          workflowExecution: { workflowId },
          identity: principal,
          requestId: randomUUID(),
          ...(reason ? { reason } : {}),
        }),
      );
      return true;
    } catch (error) {
      // It closed in between.
      if (!isTerminal((await this.read(principal, token)).status)) throw error;
      return false;
    }
  }

  /**
   * Goes on where a closed operation stopped, as a new operation. The same request again gives the same one.
   *
   * @param options.from the step to go on from, e.g. `build/2`; else after the last finished one
   * @param options.changes arguments that are other than before, for the steps that still run
   * @returns the new operation's record
   * @throws LonghaulError `wrong_state` when it is open, has completed, or is none that can be resumed;
   *   `invalid_arguments` for a step that there isn't or changes that can't be, `conflict` when it was resumed in another way
   *   already, `expired`, `not_found`, `unavailable`
   */
  async resume(principal: string, token: string, options: ResumeOptions = {}): Promise<OperationRecord> {
    const record = await this.read(principal, token);
    return resumeOperation(this.temporal, this.secret, record, options);
  }

  /**
   * Reads an artifact of an operation.
   *
   * @throws LonghaulError `not_found`, `too_large` over the limit, `unavailable`
   */
  async readArtifact(principal: string, token: string, name: string, limitBytes: number): Promise<Buffer> {
    await this.read(principal, token);
    const key = artifactKey(workflowIdOf(principal, token, this.secret), name);
    const bytes = (await this.storage.size(key)) ?? 0;
    if (bytes > limitBytes)
      throw new LonghaulError(
        'too_large',
        `artifact ${name}: ${bytes} bytes; at most ${limitBytes} are sent at once`,
      );
    return this.storage.read(key);
  }

  /**
   * Lists the principal's operations, latest first. Temporal's lists lag by up to seconds.
   *
   * @throws LonghaulError `unavailable`, also when this Temporal has no search attributes; `invalid_arguments` for a
   *   cursor that isn't of this list
   */
  list(principal: string, filter: ListFilter = {}): Promise<OperationPage> {
    return listOperations(this.temporal, this.secret, principal, filter);
  }

  /**
   * Reads a page of a step's log, while the step runs and after.
   *
   * @throws LonghaulError `invalid_arguments`, `not_found` for an operation or log that isn't there, `expired`, `unavailable`
   */
  async logs(principal: string, token: string, query: LogQuery): Promise<LogPage> {
    const record = await this.readLive(principal, token);
    return readStepLog(this.storage, workflowIdOf(principal, token, this.secret), record, query);
  }
}

/**
 * The engine: operations over Temporal's client. It knows nothing of MCP and keeps nothing that Temporal doesn't
 * hold. Every verb takes the principal who asks.
 */
import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  defineSearchAttributeKey,
  SearchAttributeType,
  type SearchAttributePair,
} from '@temporalio/common';
import { boundKeepAlive } from '../operations/budgets.js';
import { LonghaulError } from '../operations/errors.js';
import { isTerminal, type Answer, type OperationRecord } from '../operations/record.js';
import { check, withDefaults } from '../operations/schema.js';
import {
  assertClientToken,
  digestOf,
  newToken,
  tokenOfIdempotencyKey,
  workflowIdOf,
} from '../operations/token.js';
import { fixedEstimateSeconds, type Tool } from '../operations/tool.js';
import {
  MARKER_MEMO,
  OPERATION_QUERY,
  PROVIDE_INPUT,
  SEARCH_ATTRIBUTES,
  type MarkerMemo,
  type ProvidedInput,
  type StateMemo,
} from '../operations/wire.js';
import { artifactKey, type Storage } from '../platform/storage.js';
import { Estimates } from './estimates.js';
import { listOperations, type ListFilter, type OperationPage } from './list.js';
import { markerOf, readOperation } from './read.js';
import { CALL_DEADLINE_MS, isOutOfReach, type EngineTemporal } from './temporal.js';
import { Watches, type WatchOptions } from './watch.js';

export type { ListFilter, OperationPage } from './list.js';
export { EngineTemporal } from './temporal.js';

/** Largest arguments of a call, in bytes of JSON: 1 MiB. */
export const ARGUMENTS_LIMIT_BYTES = 1024 * 1024;
/** How much later than the tool's own deadline Temporal would end the work, in seconds. */
const BACKSTOP_SECONDS = 60;
/** For how long people may leave the work waiting before that backstop ends it, in seconds: 30 days. */
const PEOPLE_SECONDS = 30 * 24 * 3600;

export interface StartOptions {
  /** A token of the caller's own. */
  token?: string;
  /** The same key starts the same operation once. */
  idempotencyKey?: string;
  /** How long after closing the result shall be readable, in seconds; null for as long as possible. */
  keepAliveSeconds?: number | null;
  /** What the caller calls its session. */
  session?: string;
}

export class Engine {
  readonly #estimates: Estimates;
  readonly #watches: Watches;

  constructor(
    readonly temporal: EngineTemporal,
    readonly tools: ReadonlyMap<string, Tool>,
    private readonly secret: Buffer,
    private readonly storage: Storage,
  ) {
    this.#estimates = new Estimates(temporal);
    this.#watches = new Watches(temporal);
  }

  /** @throws LonghaulError `unknown_tool` */
  tool(name: string): Tool {
    const tool = this.tools.get(name);
    if (!tool)
      throw new LonghaulError(
        'unknown_tool',
        `unknown tool "${name}"; known are ${[...this.tools.keys()].join(', ') || 'none'}`,
      );
    return tool;
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
    if (options.token !== undefined) assertClientToken(options.token);
    const token =
      options.token ??
      (options.idempotencyKey === undefined
        ? newToken()
        : tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, this.secret));
    const workflowId = workflowIdOf(principal, token, this.secret);
    const { retentionSeconds, searchAttributes } = await this.temporal.facts();
    const marker: MarkerMemo = {
      version: 1,
      tool: tool.name,
      principal,
      argumentsDigest: digestOf(tool.name, checked, this.secret),
      deadlineSeconds: tool.deadlineSeconds,
      keepAliveSeconds: boundKeepAlive(options.keepAliveSeconds, tool.keepAliveSeconds, retentionSeconds),
      estimateSeconds: this.#estimates.of(tool.name) ?? fixedEstimateSeconds(tool, checked),
      searchAttributes,
      attempt: 1,
      createdAt: new Date().toISOString(),
      ...(options.session === undefined ? {} : { session: options.session }),
    };
    try {
      await this.#startWorkflow(tool, checked, workflowId, marker, options);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return this.#existing(principal, token, workflowId, marker.argumentsDigest);
    }
    return {
      token,
      runId: '',
      tool: tool.name,
      principal,
      createdAt: marker.createdAt!,
      updatedAt: marker.createdAt!,
      status: 'submitted',
      inputRequests: {},
      keepAliveSeconds: marker.keepAliveSeconds,
      attempt: 1,
      live: false,
      ...(marker.estimateSeconds === undefined ? {} : { estimateSeconds: marker.estimateSeconds }),
    };
  }

  async #startWorkflow(
    tool: Tool,
    args: unknown,
    workflowId: string,
    marker: MarkerMemo,
    options: StartOptions,
  ): Promise<void> {
    const attributes: SearchAttributePair[] = [
      keyword(SEARCH_ATTRIBUTES.principal, marker.principal),
      keyword(SEARCH_ATTRIBUTES.tool, tool.name),
      keyword(SEARCH_ATTRIBUTES.status, 'working'),
      ...(options.session === undefined ? [] : [keyword(SEARCH_ATTRIBUTES.session, options.session)]),
      ...(options.idempotencyKey === undefined
        ? []
        : [keyword(SEARCH_ATTRIBUTES.idempotencyKey, options.idempotencyKey)]),
    ];
    const start = () =>
      this.temporal.call((client) =>
        client.workflow.start(tool.name, {
          workflowId,
          taskQueue: this.temporal.taskQueue,
          args: [args],
          memo: { [MARKER_MEMO]: marker },
          workflowIdConflictPolicy: 'FAIL',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowExecutionTimeout: (tool.deadlineSeconds + BACKSTOP_SECONDS + PEOPLE_SECONDS) * 1000,
          staticSummary: tool.title,
          ...(marker.searchAttributes ? { typedSearchAttributes: attributes } : {}),
        }),
      );
    try {
      await start();
    } catch (error) {
      // The answer may have been lost and not the start; a second one finds the first, by its digest.
      if (!(error instanceof LonghaulError && error.kind === 'unavailable')) throw error;
      await start();
    }
  }

  async #existing(
    principal: string,
    token: string,
    workflowId: string,
    digest: string,
  ): Promise<OperationRecord> {
    const description = await this.temporal.call((client) =>
      client.workflow.getHandle(workflowId).describe(),
    );
    let isSame = false;
    try {
      isSame = markerOf(description, principal).argumentsDigest === digest;
    } catch {
      // Somebody else's workflow has this ID: refused without a word on what it is.
    }
    if (!isSame)
      throw new LonghaulError(
        'conflict',
        'the token or idempotency key is in use by another request; choose a new one',
      );
    return this.read(principal, token);
  }

  /**
   * Reads an operation; needs no worker.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  read(principal: string, token: string): Promise<OperationRecord> {
    return readOperation(this.temporal, principal, token, workflowIdOf(principal, token, this.secret));
  }

  /**
   * Reads an operation with what only its workflow holds (large partial results); falls back to {@link read}, with
   * `live: false`, when no worker answers.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async readLive(principal: string, token: string): Promise<OperationRecord> {
    const record = await this.read(principal, token);
    if (isTerminal(record.status)) return record;
    try {
      const { partial } = await this.#query(workflowIdOf(principal, token, this.secret));
      return { ...record, ...(partial === undefined ? {} : { partial }), live: true };
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
    const record = await this.read(principal, token);
    if (isTerminal(record.status))
      throw new LonghaulError('wrong_state', `the operation is ${record.status}`);
    const workflowId = workflowIdOf(principal, token, this.secret);
    const input: ProvidedInput = { key, answerId: randomUUID(), answer };
    try {
      await this.temporal.client.connection.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
        this.temporal.client.workflow
          .getHandle(workflowId)
          .executeUpdate(PROVIDE_INPUT, { args: [input], updateId: input.answerId }),
      );
      return 'accepted';
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) throw refusalOf(error);
      if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) && !isOutOfReach(error)) {
        // It closed in between: another answer was first, or the work ended.
        const { status } = await this.read(principal, token);
        throw isTerminal(status) ? new LonghaulError('wrong_state', `the operation is ${status}`) : error;
      }
    }
    const asked = record.inputRequests[key];
    if (!asked) throw new LonghaulError('wrong_state', `there is no open input request "${key}"`);
    const problems = answer.action === 'accept' ? check(asked.schema, answer.content, 'content') : [];
    if (problems.length) throw new LonghaulError('invalid_answer', problems.join('\n'));
    await this.temporal.call((client) => client.workflow.getHandle(workflowId).signal(PROVIDE_INPUT, input));
    return 'queued';
  }

  /**
   * Requests cancellation; a closed operation stays as it is.
   *
   * @throws LonghaulError `not_found`, `unavailable`
   */
  async cancel(principal: string, token: string, reason?: string): Promise<void> {
    const record = await this.read(principal, token);
    if (isTerminal(record.status)) return;
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
    } catch (error) {
      // It closed in between.
      if (!isTerminal((await this.read(principal, token)).status)) throw error;
    }
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
   * @throws LonghaulError `unavailable`, also when this Temporal has no search attributes
   */
  list(principal: string, filter: ListFilter = {}): Promise<OperationPage> {
    return listOperations(this.temporal, principal, filter);
  }
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
}

function refusalOf({ cause }: WorkflowUpdateFailedError): Error {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  const message = cause?.message ?? 'the answer was refused';
  return new LonghaulError(type === 'invalid_answer' ? 'invalid_answer' : 'wrong_state', message);
}

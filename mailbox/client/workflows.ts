/** Typed calls of the mailbox's workflows: update-with-start, signal, describe (for the memo) and query. */
import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import {
  ApplicationFailure,
  type QueryDefinition,
  type SignalDefinition,
  type UpdateDefinition,
} from '@temporalio/common';
import { mailboxPrefix } from './ids.js';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import type { DirectoryInput, DirectoryMemo, InboxInput, InboxMemo, Publication } from '../state.js';
import { DIRECTORY_WORKFLOW, INBOX_WORKFLOW, MAILBOX_MEMO, publicationQuery, type Refusal } from '../wire.js';
import type { TemporalClient } from '../../engine/temporal/client.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import { Updates } from './updates.js';

/** Deadline of a query, including its time in the worker's queue, in milliseconds. */
const QUERY_DEADLINE_MS = 10_000;
/** Changes per run, of 5 to 10 events each, before it continues as new. Few, because each new history long poll reads the whole run. */
const CONTINUE_AFTER_CHANGES = 150;

export class RefusedError extends Error {
  override name = 'RefusedError';
  constructor(
    readonly why: Refusal,
    message: string,
    readonly detail?: unknown,
  ) {
    super(message);
  }
}

interface WorkflowStart {
  type: string;
  input: InboxInput | DirectoryInput;
  memo: InboxMemo | DirectoryMemo;
  summary: string;
}

export interface MailboxOptions {
  /** Changes per run, of 5 to 10 events each, before it continues as new. Default: 150. */
  continueAfterChanges?: number;
  /** Maximum agents in a home directory. Shards list the others. Default: 100. */
  homeAgents?: number;
  /** Interval of a waiting agent's heartbeats, in milliseconds. Default: 12 minutes. */
  heartbeatIntervalMs?: number;
  /** Time without an open wait after which an agent counts as away, in milliseconds. Default: 30 seconds. */
  awayAfterMs?: number;
}

interface UpdateOptions {
  /** Starts the workflow if it isn't running. Default: throws. */
  start?: WorkflowStart;
  /** The workflow is probably not running, so start it with the first attempt. Default: false. */
  isNew?: boolean;
  /** Takes precedence over this process's other updates. Default: false. */
  isUrgent?: boolean;
}

export class MailboxWorkflows {
  readonly #updates: Updates;
  readonly #queries = new Map<string, Promise<unknown>>();
  readonly #continueAfterChanges: number;

  constructor(
    readonly temporal: TemporalClient,
    private readonly secret: Buffer,
    options: MailboxOptions = {},
  ) {
    this.#updates = new Updates(temporal);
    this.#continueAfterChanges = options.continueAfterChanges ?? CONTINUE_AFTER_CHANGES;
  }

  prefixOf(principal: string): string {
    return mailboxPrefix(principal, this.temporal.taskQueue, this.secret);
  }

  inboxOf(principal: string, name: string): string {
    return `${this.prefixOf(principal)}inbox:${name}`;
  }

  /** @param shard Default: the home directory */
  directoryOf(principal: string, shard?: number): string {
    return `${this.prefixOf(principal)}directory${shard === undefined ? '' : `:${shard}`}`;
  }

  /**
   * Updates an agent's inbox.
   *
   * @param starts starts the inbox: with the first attempt, or only after it was not found. Default: never
   * @throws RefusedError, LonghaulError `not_found`, `unavailable`
   */
  updateInbox<R, A>(
    principal: string,
    name: string,
    update: UpdateDefinition<R, [A]>,
    argument: A,
    starts?: 'first' | 'if missing',
  ): Promise<R> {
    return this.#update(this.inboxOf(principal, name), update, argument, {
      ...(starts ? { start: this.#inboxStart(principal, name) } : {}),
      isNew: starts === 'first',
    });
  }

  /**
   * Updates a directory, and starts it if it isn't running.
   *
   * @param options.shard Default: the home directory
   * @throws RefusedError, LonghaulError `unavailable`
   */
  updateDirectory<R, A>(
    principal: string,
    update: UpdateDefinition<R, [A]>,
    argument: A,
    { shard, isUrgent }: { shard?: number | undefined; isUrgent?: boolean } = {},
  ): Promise<R> {
    const start: WorkflowStart = {
      type: DIRECTORY_WORKFLOW,
      input: { principal, continueAfterChanges: this.#continueAfterChanges },
      memo: { version: 1, principal, wanted: [] },
      summary: 'directory of agents',
    };
    return this.#update(this.directoryOf(principal, shard), update, argument, {
      start,
      ...(isUrgent ? { isUrgent } : {}),
    });
  }

  /** Starts an inbox unless it is running. @throws LonghaulError `unavailable` */
  async ensureInbox(principal: string, name: string): Promise<void> {
    const workflowId = this.inboxOf(principal, name);
    const { type, ...options } = this.#startOptions(workflowId, this.#inboxStart(principal, name));
    await this.#updates.call(workflowId, (client) => client.workflow.start(type, options));
  }

  async signalInbox<A>(
    principal: string,
    name: string,
    signal: SignalDefinition<[A]>,
    argument: A,
  ): Promise<void> {
    await this.temporal.call((client) =>
      client.workflow.getHandle(this.inboxOf(principal, name)).signal(signal, argument),
    );
  }

  /**
   * An inbox's memo, read without a worker. Undefined if it isn't running.
   *
   * @param deadlineMs Default: as for any call to Temporal
   * @throws LonghaulError `unavailable`
   */
  describeInbox(principal: string, name: string, deadlineMs?: number): Promise<InboxMemo | undefined> {
    return this.#describe<InboxMemo>(this.inboxOf(principal, name), deadlineMs);
  }

  /** @throws LonghaulError `unavailable` */
  describeDirectory(principal: string): Promise<DirectoryMemo | undefined> {
    return this.#describe<DirectoryMemo>(this.directoryOf(principal));
  }

  /**
   * Queries a workflow. Concurrent identical queries share one call. Undefined without such a workflow.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async query<R, Args extends unknown[]>(
    workflowId: string,
    query: QueryDefinition<R, Args>,
    ...args: Args
  ): Promise<R | undefined> {
    const key = JSON.stringify([workflowId, query.name, args]);
    let pending = this.#queries.get(key) as Promise<R> | undefined;
    if (!pending) {
      pending = this.temporal
        .call((client) => client.workflow.getHandle(workflowId).query(query, ...args), QUERY_DEADLINE_MS)
        .finally(() => this.#queries.delete(key));
      this.#queries.set(key, pending);
    }
    return pending.catch((error: unknown) => {
      if (isGrpcError(error, GRPC.failedPrecondition))
        throw new LonghaulError('unavailable', 'no worker is available; try again shortly', { cause: error });
      return undefinedIf('not_found')(error);
    });
  }

  /**
   * Recipients of a message for several agents or for anyone. Undefined if the directory doesn't know it.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async publicationOf(principal: string, messageId: string): Promise<Publication | undefined> {
    const directory = this.directoryOf(principal);
    return (await this.query(directory, publicationQuery, messageId)) ?? undefined;
  }

  async #describe<M>(workflowId: string, deadlineMs?: number): Promise<M | undefined> {
    const description = await this.temporal.describe(workflowId, deadlineMs).catch(undefinedIf('not_found'));
    // The memo's times are compared with Temporal's.
    await this.temporal.nowMs();
    return description && isOpen(description) ? (description.memo?.[MAILBOX_MEMO] as M) : undefined;
  }

  #inboxStart(principal: string, name: string): WorkflowStart {
    const now = this.temporal.time.nowMs;
    return {
      type: INBOX_WORKFLOW,
      input: { principal, name, continueAfterChanges: this.#continueAfterChanges },
      memo: { version: 1, principal, name, epoch: 0, queued: 0, signedAt: 0, activeAt: now, settled: 0 },
      summary: `inbox of ${name}`,
    };
  }

  #startOptions(workflowId: string, { type, input, memo, summary }: WorkflowStart) {
    return {
      type,
      workflowId,
      taskQueue: this.temporal.taskQueue,
      args: [input],
      memo: { [MAILBOX_MEMO]: memo },
      staticSummary: summary,
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
    };
  }

  /** Retries of an idempotent update keep its ID, so Temporal doesn't deliver an update that is still in flight twice to a run. */
  async #update<R, A>(
    workflowId: string,
    update: UpdateDefinition<R, [A]>,
    argument: A,
    { start, isNew = false, isUrgent = false }: UpdateOptions,
  ): Promise<R> {
    const call = { args: [argument] as [A], updateId: randomUUID() };
    const starting = (client: Client) => {
      const { type, ...options } = this.#startOptions(workflowId, start!);
      return client.workflow.executeUpdateWithStart<() => Promise<unknown>, R, [A]>(update, {
        ...call,
        startWorkflowOperation: new WithStartWorkflowOperation(type, options),
      });
    };
    const existing = async (client: Client) => {
      try {
        return await client.workflow.getHandle(workflowId).executeUpdate(update, call);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        if (!start) throw new LonghaulError('not_found', 'unknown agent', { cause: error });
        return starting(client);
      }
    };
    try {
      return await this.#updates.call(workflowId, isNew ? starting : existing, isUrgent);
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure))
        throw error;
      const { type, message, details } = error.cause;
      throw new RefusedError(type as Refusal, message, details?.[0]);
    }
  }
}

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
  /** Starts the workflow: with the first attempt, or only after it was not found. Default: never. */
  starts?: 'first' | 'if missing';
  /** Takes precedence over this process's other updates. Default: false. */
  isUrgent?: boolean;
}

/** Shared by all calls of this process. */
export class WorkflowCalls {
  readonly updates: Updates;
  readonly continueAfterChanges: number;

  constructor(
    readonly temporal: TemporalClient,
    readonly secret: Buffer,
    options: MailboxOptions = {},
  ) {
    this.updates = new Updates(temporal);
    this.continueAfterChanges = options.continueAfterChanges ?? CONTINUE_AFTER_CHANGES;
  }

  of(principal: string): MailboxWorkflows {
    return new MailboxWorkflows(this, principal);
  }
}

/** The workflows of one principal's mailbox. */
export class MailboxWorkflows {
  readonly prefix: string;
  readonly temporal: TemporalClient;
  readonly secret: Buffer;

  constructor(
    private readonly calls: WorkflowCalls,
    readonly principal: string,
  ) {
    this.temporal = calls.temporal;
    this.secret = calls.secret;
    this.prefix = mailboxPrefix(principal, this.temporal.taskQueue, this.secret);
  }

  inbox(name: string): MailboxWorkflow<InboxMemo> {
    const { principal, calls } = this;
    const activeAt = this.temporal.time.nowMs;
    const { continueAfterChanges } = calls;
    return new MailboxWorkflow(calls, `${this.prefix}inbox:${name}`, () => ({
      type: INBOX_WORKFLOW,
      input: { principal, name, continueAfterChanges },
      memo: { version: 1, principal, name, epoch: 0, queued: 0, signedAt: 0, activeAt, settled: 0 },
      summary: `inbox of ${name}`,
    }));
  }

  /** @param shard Default: the home directory */
  directory(shard?: number): MailboxWorkflow<DirectoryMemo> {
    const { principal, calls } = this;
    const { continueAfterChanges } = calls;
    const id = `${this.prefix}directory${shard === undefined ? '' : `:${shard}`}`;
    return new MailboxWorkflow(calls, id, () => ({
      type: DIRECTORY_WORKFLOW,
      input: { principal, continueAfterChanges },
      memo: { version: 1, principal, wanted: [] },
      summary: 'directory of agents',
    }));
  }

  /**
   * Recipients of a message for several agents or for anyone. Undefined if the directory doesn't know it.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async publicationOf(messageId: string): Promise<Publication | undefined> {
    return (await this.directory().query(publicationQuery, messageId)) ?? undefined;
  }
}

/** An inbox or a directory, which may not be running. */
export class MailboxWorkflow<Memo> {
  constructor(
    private readonly calls: WorkflowCalls,
    readonly id: string,
    private readonly start: () => WorkflowStart,
  ) {}

  /**
   * Retries of an idempotent update keep its ID, so Temporal doesn't deliver an update that is still in flight twice to a run.
   *
   * @throws RefusedError, LonghaulError `not_found`, `unavailable`
   */
  async update<R, A>(
    update: UpdateDefinition<R, [A]>,
    argument: A,
    { starts, isUrgent }: UpdateOptions = {},
  ): Promise<R> {
    const call = { args: [argument] as [A], updateId: randomUUID() };
    const starting = (client: Client) =>
      client.workflow.executeUpdateWithStart<() => Promise<unknown>, R, [A]>(update, {
        ...call,
        startWorkflowOperation: new WithStartWorkflowOperation(...this.#startCall()),
      });
    const existing = async (client: Client) => {
      try {
        return await client.workflow.getHandle(this.id).executeUpdate(update, call);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        if (!starts) throw new LonghaulError('not_found', 'unknown agent', { cause: error });
        return starting(client);
      }
    };
    try {
      return await this.calls.updates.call(this.id, starts === 'first' ? starting : existing, isUrgent);
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure))
        throw error;
      const { type, message, details } = error.cause;
      throw new RefusedError(type as Refusal, message, details?.[0]);
    }
  }

  /** Starts it unless it is running. @throws LonghaulError `unavailable` */
  async ensure(): Promise<void> {
    await this.calls.updates.call(this.id, (client) => client.workflow.start(...this.#startCall()));
  }

  async signal<A>(signal: SignalDefinition<[A]>, argument: A): Promise<void> {
    await this.calls.temporal.call((client) => client.workflow.getHandle(this.id).signal(signal, argument));
  }

  /**
   * The memo, read without a worker. Undefined if it isn't running.
   *
   * @param deadlineMs Default: as for any call to Temporal
   * @throws LonghaulError `unavailable`
   */
  async describe(deadlineMs?: number): Promise<Memo | undefined> {
    const { temporal } = this.calls;
    const description = await temporal.describe(this.id, deadlineMs).catch(undefinedIf('not_found'));
    // The memo's times are compared with Temporal's.
    await temporal.nowMs();
    return description && isOpen(description) ? (description.memo?.[MAILBOX_MEMO] as Memo) : undefined;
  }

  /**
   * The answer to a query. Undefined without such a workflow.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async query<R, Args extends unknown[]>(
    query: QueryDefinition<R, Args>,
    ...args: Args
  ): Promise<R | undefined> {
    try {
      return await this.calls.temporal.call(
        (client) => client.workflow.getHandle(this.id).query(query, ...args),
        QUERY_DEADLINE_MS,
      );
    } catch (error) {
      if (isGrpcError(error, GRPC.failedPrecondition))
        throw new LonghaulError('unavailable', 'no worker is available; try again shortly', { cause: error });
      return undefinedIf('not_found')(error);
    }
  }

  #startCall() {
    const { type, input, memo, summary } = this.start();
    const options = {
      workflowId: this.id,
      taskQueue: this.calls.temporal.taskQueue,
      args: [input],
      memo: { [MAILBOX_MEMO]: memo },
      staticSummary: summary,
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
    };
    return [type, options] as const;
  }
}

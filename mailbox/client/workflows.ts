/**
 * The mailbox's workflows as the verbs call them: an update that starts its workflow when there is none, describe for what
 * the memo shows, queries for the rest.
 */
import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { mailboxPrefix } from './ids.js';
import { LonghaulError } from '../../operations/errors.js';
import {
  DIRECTORY_WORKFLOW,
  INBOX_WORKFLOW,
  MAILBOX_MEMO,
  PUBLICATION_QUERY,
  type DirectoryInput,
  type DirectoryMemo,
  type InboxInput,
  type InboxMemo,
  type Publication,
  type Refusal,
} from '../wire.js';
import type { TemporalClient } from '../../engine/temporal.js';
import { FAILED_PRECONDITION, isGrpcError, Updates } from './updates.js';

/** How long a query may take, in milliseconds: it waits for its turn at the worker. */
const QUERY_DEADLINE_MS = 10_000;
/**
 * A run goes on as a new one from this many changes, of 5 to 10 events each: well before Temporal's limits, and because a poll
 * that starts anew reads the whole run.
 */
const CONTINUE_AFTER_CHANGES = 150;

/** An update that its workflow refused. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  constructor(
    readonly why: Refusal,
    message: string,
    /** Answer that came with it. */
    readonly detail?: unknown,
  ) {
    super(message);
  }
}

/** What a mailbox's workflow is started with, when it isn't there. */
interface Beginning {
  type: string;
  input: InboxInput | DirectoryInput;
  memo: InboxMemo | DirectoryMemo;
  summary: string;
}

export interface MailboxOptions {
  /** A run of a workflow goes on as a new one from this many changes, of 5 to 10 events each. Default: 150. */
  continueAfterChanges?: number;
  /** How many agents a home directory lists before further ones are listed in shards. Default: 100. */
  homeAgents?: number;
  /** How old the last sign of life of a waiting agent gets before it is renewed, in milliseconds. Default: 12 minutes. */
  signIntervalMs?: number;
  /** How long there may be between two waits of an agent before it counts as away, in milliseconds. Default: 30 seconds. */
  awayAfterMs?: number;
}

interface UpdateOptions {
  /** Starts the workflow if it isn't there. Without it, that is an error. */
  beginning?: Beginning;
  /** It is probably not there: starts it with the first try. Default: false. */
  isNew?: boolean;
  /** Goes before other updates of this process. Default: false. */
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

  /** What the IDs of this principal's workflows begin with. */
  prefixOf(principal: string): string {
    return mailboxPrefix(principal, this.temporal.taskQueue, this.secret);
  }

  inboxOf(principal: string, name: string): string {
    return `${this.prefixOf(principal)}inbox:${name}`;
  }

  /** @param shard its number. Default: the home directory */
  directoryOf(principal: string, shard?: number): string {
    return `${this.prefixOf(principal)}directory${shard === undefined ? '' : `:${shard}`}`;
  }

  /**
   * An update of an agent's inbox.
   *
   * @param starts start the inbox: with the first try, or only if there turns out to be none. Default: never
   * @throws RefusedError, LonghaulError `not_found`, `unavailable`
   */
  updateInbox<R>(
    principal: string,
    name: string,
    update: string,
    what: unknown,
    starts?: 'first' | 'if missing',
  ): Promise<R> {
    return this.#update<R>(this.inboxOf(principal, name), update, what, {
      ...(starts ? { beginning: this.#inbox(principal, name) } : {}),
      isNew: starts === 'first',
    });
  }

  /**
   * An update of a directory, which is started if there is none.
   *
   * @param options.shard number of the shard. Default: the home directory
   * @throws RefusedError, LonghaulError `unavailable`
   */
  updateDirectory<R>(
    principal: string,
    update: string,
    what: unknown,
    { shard, isUrgent }: { shard?: number | undefined; isUrgent?: boolean } = {},
  ): Promise<R> {
    const beginning: Beginning = {
      type: DIRECTORY_WORKFLOW,
      input: { principal, continueAfterChanges: this.#continueAfterChanges },
      memo: { version: 1, principal, wanted: [] },
      summary: 'directory of agents',
    };
    return this.#update<R>(this.directoryOf(principal, shard), update, what, {
      beginning,
      ...(isUrgent ? { isUrgent } : {}),
    });
  }

  /** Makes an inbox if there is none. @throws LonghaulError `unavailable` */
  async ensureInbox(principal: string, name: string): Promise<void> {
    const workflowId = this.inboxOf(principal, name);
    const { type, ...options } = this.#startOptions(workflowId, this.#inbox(principal, name));
    await this.#updates.call(workflowId, (client) => client.workflow.start(type, options));
  }

  async signalInbox(principal: string, name: string, signal: string, what: unknown): Promise<void> {
    await this.temporal.call((client) =>
      client.workflow.getHandle(this.inboxOf(principal, name)).signal(signal, what),
    );
  }

  /**
   * What an inbox shows; needs no worker. Undefined when there is none.
   *
   * @param deadlineMs in milliseconds. Default: as for any call to Temporal
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
   * Whoever asks the same meanwhile gets the same answer. Undefined when there is no such workflow.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async query<R>(workflowId: string, query: string, ...args: unknown[]): Promise<R | undefined> {
    const key = JSON.stringify([workflowId, query, args]);
    let asked = this.#queries.get(key) as Promise<R> | undefined;
    if (!asked) {
      asked = this.temporal
        .call(
          (client) => client.workflow.getHandle(workflowId).query<R, unknown[]>(query, ...args),
          QUERY_DEADLINE_MS,
        )
        .finally(() => this.#queries.delete(key));
      this.#queries.set(key, asked);
    }
    return asked.catch((error: unknown) => {
      if (isGrpcError(error, [FAILED_PRECONDITION]))
        throw new LonghaulError('unavailable', 'no worker answers; try again shortly', { cause: error });
      return ifNotFound(error);
    });
  }

  /**
   * Recipients of a message for several agents or for anyone. Undefined when the directory has no such message.
   *
   * @throws LonghaulError `unavailable`, also while there is no worker
   */
  async publicationOf(principal: string, messageId: string): Promise<Publication | undefined> {
    const directory = this.directoryOf(principal);
    return (await this.query<Publication | null>(directory, PUBLICATION_QUERY, messageId)) ?? undefined;
  }

  async #describe<M>(workflowId: string, deadlineMs?: number): Promise<M | undefined> {
    const description = await this.temporal.describe(workflowId, deadlineMs).catch(ifNotFound);
    return description?.status.name === 'RUNNING' ? (description.memo?.[MAILBOX_MEMO] as M) : undefined;
  }

  #inbox(principal: string, name: string): Beginning {
    const now = Date.now();
    return {
      type: INBOX_WORKFLOW,
      input: { principal, name, continueAfterChanges: this.#continueAfterChanges },
      memo: { version: 1, principal, name, epoch: 0, queued: 0, signedAt: 0, activeAt: now, settled: 0 },
      summary: `inbox of ${name}`,
    };
  }

  #startOptions(workflowId: string, { type, input, memo, summary }: Beginning) {
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

  /**
   * Repeats of an update are harmless to its workflow. They have the same ID, so that Temporal gives one that is still on its
   * way no second time to the same run.
   */
  async #update<R>(
    workflowId: string,
    update: string,
    what: unknown,
    { beginning, isNew = false, isUrgent = false }: UpdateOptions,
  ): Promise<R> {
    const options = { args: [what] as [unknown], updateId: randomUUID() };
    const starting = (client: Client) => {
      const { type, ...start } = this.#startOptions(workflowId, beginning!);
      return client.workflow.executeUpdateWithStart<() => Promise<unknown>, R, [unknown]>(update, {
        ...options,
        startWorkflowOperation: new WithStartWorkflowOperation(type, start),
      });
    };
    const existing = async (client: Client) => {
      try {
        return await client.workflow.getHandle(workflowId).executeUpdate<R, [unknown]>(update, options);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        if (!beginning) throw new LonghaulError('not_found', 'there is no such agent', { cause: error });
        return starting(client);
      }
    };
    try {
      return await this.#updates.call(workflowId, isNew ? starting : existing, isUrgent);
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure))
        throw error;
      const { type, message, details } = error.cause;
      // The SDK refuses an update that the workflow's code doesn't know without a type.
      throw new RefusedError((type || 'unknown_update') as Refusal, message, details?.[0]);
    }
  }
}

function ifNotFound(error: unknown): undefined {
  if (error instanceof LonghaulError && error.kind === 'not_found') return undefined;
  throw error;
}

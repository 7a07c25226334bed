/**
 * The mailbox's workflows as the verbs call them: an update that starts its workflow when there is none, describe for what
 * the memo shows, queries for the rest.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { mailboxPrefix } from '../../operations/agent-id.js';
import { LonghaulError } from '../../operations/errors.js';
import {
  DIRECTORY_WORKFLOW,
  INBOX_WORKFLOW,
  MAILBOX_MEMO,
  type DirectoryInput,
  type DirectoryMemo,
  type InboxInput,
  type InboxMemo,
  type Refusal,
} from '../../operations/mailbox-wire.js';
import { isOutOfReach, type EngineTemporal } from '../temporal.js';

/** How long an update may take before it is tried again, in milliseconds: it waits for its turn at the worker. */
const UPDATE_DEADLINE_MS = 5_000;
/** After this time it isn't tried again, in milliseconds. */
const UPDATE_PATIENCE_MS = 10_000;
const UPDATE_RETRY_MS = 50;
/** Updates of one workflow that this process has under way at most; Temporal takes ten in all. */
const UPDATES_AT_ONCE = 4;
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
  /** How old the last sign of life of a waiting agent gets before it is renewed, in milliseconds. Default: 12 minutes. */
  signIntervalMs?: number;
  /** How long there may be between two waits of an agent before it counts as away, in milliseconds. Default: 30 seconds. */
  awayAfterMs?: number;
}

export class MailboxWorkflows {
  readonly #queues = new Map<string, { running: number; waiting: (() => void)[] }>();
  readonly #queries = new Map<string, Promise<unknown>>();
  readonly #continueAfterChanges: number;

  constructor(
    readonly temporal: EngineTemporal,
    private readonly secret: Buffer,
    options: MailboxOptions = {},
  ) {
    this.#continueAfterChanges = options.continueAfterChanges ?? CONTINUE_AFTER_CHANGES;
  }

  /** What the IDs of this principal's workflows begin with. */
  prefixOf(principal: string): string {
    return mailboxPrefix(principal, this.temporal.taskQueue, this.secret);
  }

  inboxOf(principal: string, name: string): string {
    return `${this.prefixOf(principal)}inbox:${name}`;
  }

  directoryOf(principal: string): string {
    return `${this.prefixOf(principal)}directory`;
  }

  /**
   * An update of an agent's inbox.
   *
   * @param starts start the inbox if there is none. Default: false
   * @throws RefusedError, LonghaulError `not_found`, `unavailable`
   */
  updateInbox<R>(principal: string, name: string, update: string, what: unknown, starts = false): Promise<R> {
    const beginning = starts ? this.#inbox(principal, name) : undefined;
    return this.#update<R>(this.inboxOf(principal, name), update, what, beginning);
  }

  /** An update of the directory, which is started if there is none. @throws RefusedError, LonghaulError `unavailable` */
  updateDirectory<R>(principal: string, update: string, what: unknown): Promise<R> {
    const beginning: Beginning = {
      type: DIRECTORY_WORKFLOW,
      input: { principal, continueAfterChanges: this.#continueAfterChanges },
      memo: { version: 1, principal, wanted: [] },
      summary: 'directory of agents',
    };
    return this.#update<R>(this.directoryOf(principal), update, what, beginning);
  }

  /** Makes an inbox if there is none. @throws LonghaulError `unavailable` */
  async ensureInbox(principal: string, name: string): Promise<void> {
    const { type, ...options } = this.#startOptions(
      this.inboxOf(principal, name),
      this.#inbox(principal, name),
    );
    await this.temporal.call((client) => client.workflow.start(type, options));
  }

  async signalInbox(principal: string, name: string, signal: string, what: unknown): Promise<void> {
    await this.temporal.call((client) =>
      client.workflow.getHandle(this.inboxOf(principal, name)).signal(signal, what),
    );
  }

  /** What an inbox shows; needs no worker. Undefined when there is none. @throws LonghaulError `unavailable` */
  describeInbox(principal: string, name: string): Promise<InboxMemo | undefined> {
    return this.#describe<InboxMemo>(this.inboxOf(principal, name));
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
          UPDATE_DEADLINE_MS,
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

  async #describe<M>(workflowId: string): Promise<M | undefined> {
    const description = await this.temporal.describe(workflowId).catch(ifNotFound);
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
   * Repeats of an update are harmless to its workflow, so one whose answer doesn't come is sent again: also to the run
   * that follows, which doesn't know the update's ID.
   */
  async #update<R>(workflowId: string, update: string, what: unknown, beginning?: Beginning): Promise<R> {
    const options = { args: [what] as [unknown], updateId: randomUUID() };
    const existing = (client: Client) =>
      client.workflow.getHandle(workflowId).executeUpdate<R, [unknown]>(update, options);
    const starting = (client: Client) => {
      const { type, ...start } = this.#startOptions(workflowId, beginning!);
      return client.workflow.executeUpdateWithStart<() => Promise<unknown>, R, [unknown]>(update, {
        args: [what],
        updateId: randomUUID(),
        startWorkflowOperation: new WithStartWorkflowOperation(type, start),
      });
    };
    const leave = await this.#enter(workflowId);
    try {
      let run = existing;
      const deadline = Date.now() + UPDATE_PATIENCE_MS;
      for (;;) {
        try {
          const client = await this.temporal.connectedClient();
          return await client.connection.withDeadline(Date.now() + UPDATE_DEADLINE_MS, () => run(client));
        } catch (error) {
          if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
            const { type, message } = error.cause;
            // The run ended with the update on its way; the one that follows takes it.
            if (type !== 'AcceptedUpdateCompletedWorkflow') throw new RefusedError(type as Refusal, message);
          } else if (error instanceof WorkflowNotFoundError) {
            if (!beginning) throw new LonghaulError('not_found', 'there is no such agent', { cause: error });
            run = starting;
          } else if (!isLost(error)) throw error;
          if (Date.now() >= deadline)
            throw new LonghaulError('unavailable', 'the mailbox did not answer in time; try again shortly', {
              cause: error,
            });
          await delay(UPDATE_RETRY_MS);
        }
      }
    } finally {
      leave();
    }
  }

  /** Waits until an update of this workflow may go. */
  async #enter(workflowId: string): Promise<() => void> {
    const queue = this.#queues.get(workflowId) ?? { running: 0, waiting: [] };
    this.#queues.set(workflowId, queue);
    if (queue.running >= UPDATES_AT_ONCE) await new Promise<void>((go) => queue.waiting.push(go));
    else queue.running += 1;
    return () => {
      const next = queue.waiting.shift();
      if (next) return next();
      queue.running -= 1;
      if (queue.running === 0) this.#queues.delete(workflowId);
    };
  }
}

/** gRPC status codes of updates that met the end of a run or of a workflow task, or came while ten were under way. */
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;

/** May the update have been lost, or come to nothing, for a reason that passes? */
function isLost(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isOutOfReach(error)) return true;
  return isGrpcError(error, [RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED]);
}

function isGrpcError(error: unknown, codes: number[]): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && codes.includes(cause.code);
}

function ifNotFound(error: unknown): undefined {
  if (error instanceof LonghaulError && error.kind === 'not_found') return undefined;
  throw error;
}

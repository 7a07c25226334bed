/** Reads an operation with one describe, without a worker. Closed operations also need their result, and are cached for a few seconds. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { isPastKeepAlive } from '../../operations/tool/budgets.js';
import { isKind } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import { parseTrace } from '../../operations/wire/trace-context.js';
import type { StartMemo } from '../../operations/wire/index.js';
import { PARTIAL_MEMO, publishedState, STATE_MEMO } from '../../operations/wire/state.js';
import { memoProblem } from '../../platform/temporal/memo.js';
import type { Signer } from '../../platform/temporal/signer.js';
import type { Tools } from '../../platform/project/tools.js';
import { recordedAnswers } from '../answer/recorded.js';
import { closedFields } from './closed.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { adoptedMemo } from '../external/adopt.js';
import { ExternalStates } from '../external/state.js';
import type { Located, SealedRun } from '../external/run-tokens.js';
import { cancelRequestOf } from './history.js';
import { LiveQueries } from './live.js';
import { openFields } from './open.js';
import { withCheckedOutput } from './output.js';
import { OverdueRuns } from './overdue.js';
import { Places } from '../start/places.js';
import { flattenParts, describeOpenParts } from './parts.js';
import { ProgressReader } from './progress.js';
import { endIfRefused } from './terminated.js';
import { createdAtOf, knownStartOf, startOf } from './start-memo.js';
import { StoredValues } from './values.js';
import type { TemporalClient } from '../temporal/client.js';
import { Watches } from '../watch/index.js';

/** How long to cache a closed operation's record, in milliseconds: a reset starts a new attempt under its token. */
const CLOSED_CACHE_MS = 5_000;
const CLOSED_CACHE_ENTRIES = 64;

/** Reads, watches and queries the operations in one namespace of Temporal. */
export class Records {
  /** By token and run ID: several principals may have adopted a run. */
  readonly #closed = new LRUCache<string, OperationRecord>({
    max: CLOSED_CACHE_ENTRIES,
    ttl: CLOSED_CACHE_MS,
  });
  readonly #progress: ProgressReader;
  readonly #values: StoredValues;
  readonly overdue: OverdueRuns;
  readonly places: Places;
  readonly external: ExternalStates;
  readonly watches: Watches;
  readonly live: LiveQueries;
  readonly #shared = new SharedReads<OperationRecord>();

  constructor(
    readonly temporal: TemporalClient,
    readonly signer: Signer,
    private readonly tools: Tools,
  ) {
    this.watches = new Watches(temporal);
    this.#values = new StoredValues(temporal.storage);
    this.live = new LiveQueries(temporal, this.#values);
    this.#progress = new ProgressReader(temporal);
    this.overdue = new OverdueRuns(temporal);
    this.places = new Places(temporal);
    this.external = new ExternalStates(temporal, (workflowId) => this.watches.wake(workflowId));
  }

  /**
   * Reads an operation. Concurrent callers share reads that begin after their call.
   *
   * @param found description of its workflow, if known
   * @throws LonghaulError `not_found`, the same for unknown, purged and other principals' operations; `unavailable`
   */
  read(
    principal: string,
    token: string,
    located: Pick<Located, 'workflowId' | 'run'>,
    found?: WorkflowExecutionDescription,
  ): Promise<OperationRecord> {
    if (found) return this.#read(principal, token, located, found);
    return this.#shared.read(`${principal}\n${token}`, async () =>
      this.#read(principal, token, located, await this.temporal.describe(located.workflowId)),
    );
  }

  /** Whether a workflow has Longhaul's runtime or fulfils its contract. @throws LonghaulError `not_found`, `unavailable` */
  async keepsState(workflowId: string): Promise<boolean> {
    return (await this.temporal.describe(workflowId)).memo?.[STATE_MEMO] !== undefined;
  }

  async #read(
    principal: string,
    token: string,
    located: Pick<Located, 'workflowId' | 'run'>,
    description: WorkflowExecutionDescription,
  ): Promise<OperationRecord> {
    const { workflowId, run } = located;
    const memo = await this.#startMemoOf(description, principal, run);
    const kept = this.#closed.get(attemptKey(token, description.runId));
    const isFresh =
      kept && isPastKeepAlive(kept, await this.temporal.nowMs()) === (kept.status === 'expired');
    if (isFresh && !isOpen(description)) return kept;
    const hasEnded =
      (await this.overdue.endIfOverdue(description)) || (await endIfRefused(this.temporal, description));
    if (hasEnded) return this.#read(principal, token, located, await this.temporal.describe(workflowId));
    const record = await this.#toRecord(description, memo, token).catch(async (error: unknown) => {
      // If it was deleted after the describe, with history and storage, this throws `not_found`.
      if (!isKind(error, 'unavailable'))
        await this.#startMemoOf(await this.temporal.describe(workflowId), principal, run);
      throw error;
    });
    // A lost value may have the same cause.
    if (record.resultProblem?.retryable === false)
      await this.#startMemoOf(await this.temporal.describe(workflowId), principal, run);
    if (record.closedAt && record.resultProblem === undefined)
      this.#closed.set(attemptKey(record.token, record.runId), record);
    return record;
  }

  /** @throws LonghaulError `not_found` */
  async #startMemoOf(
    description: WorkflowExecutionDescription,
    principal: string,
    run: SealedRun | undefined,
  ): Promise<StartMemo> {
    if (run?.firstRunId === undefined) return knownStartOf(this.temporal, description, principal, run);
    const { retentionSeconds } = await this.temporal.facts();
    return adoptedMemo(description, principal, run, retentionSeconds);
  }

  async #toRecord(
    description: WorkflowExecutionDescription,
    memo: StartMemo,
    token: string,
  ): Promise<OperationRecord> {
    const { temporal } = this;
    const ownState = publishedState(description.memo);
    const isExternal = memo.runtime === 'none' && ownState === undefined;
    const external = isExternal
      ? await this.external.read(description, this.tools.get(memo.tool)?.external)
      : undefined;
    const state = external ?? (await this.#values.addSmall(ownState ?? {}));
    const { stage, partial } = state;
    const answers = await recordedAnswers(temporal, this.signer, description, { start: memo, state });
    const answered = new Set(answers.filter((answer) => answer.state === 'queued').map(({ key }) => key));
    const createdAt = createdAtOf(memo, startOf(description));
    const parts = isOpen(description) ? await describeOpenParts(temporal, description) : [];
    for (const { part } of flattenParts(parts)) await endIfRefused(temporal, part.description);
    const updatedAt = [createdAt, state.updatedAt ?? createdAt].sort().at(-1)!;
    const isCancelRequested =
      description.raw.workflowExtendedInfo?.cancelRequested ||
      state.cancelRequestedAt !== undefined ||
      description.status.name === 'CANCELLED';
    const { workflowId, runId } = description;
    const cancelRequest = isCancelRequested ? await cancelRequestOf(temporal, workflowId, runId) : undefined;
    const reading = await this.#progress.read(description, state, updatedAt, parts, cancelRequest?.reached);
    const base: OperationRecord = {
      ...startedRecord(token, memo),
      runId,
      createdAt,
      status: 'working',
      ...reading,
      progressToken: memo.progressToken,
      stage,
      partial,
      ...(answers.length > 0 ? { answers } : {}),
    };
    const fields = isOpen(description)
      ? await openFields(
          { temporal, places: this.places, progress: this.#progress },
          { description, memo, state, external, parts: flattenParts(parts), answered, cancelRequest, base },
        )
      : await closedFields(temporal, this.#values, base, { description, state, cancelRequest, isExternal });
    const record = await withCheckedOutput(
      temporal,
      { ...base, ...fields },
      { description, memo, current: this.tools.get(memo.tool)?.outputSchema },
    );
    const canHavePartial = record.status !== 'completed' && record.status !== 'expired';
    const isLarge = state.isPartialLarge === true || state.claims?.[PARTIAL_MEMO] !== undefined;
    const isPartialLarge = isLarge && record.partial === undefined && canHavePartial;
    const { cancelRequestedAt = state.cancelRequestedAt ?? cancelRequest?.at ?? record.updatedAt } = record;
    const problem = memoProblem(description.memo);
    return {
      ...record,
      ...(problem === undefined
        ? {}
        : { problem, statusMessage: [record.statusMessage, problem].filter(Boolean).join('; ') }),
      ...(isPartialLarge ? { isPartialLarge: true as const } : {}),
      // Longhaul's own operations end canceled after a request.
      ...(isExternal && cancelRequest ? { cancelRequestedAt } : {}),
    };
  }
}

function attemptKey(token: string, runId: string): string {
  return `${token}\n${runId}`;
}

/** The part of a record that the start fixes. */
export function startedRecord(token: string, memo: StartMemo) {
  const { tool, principal, keepAliveSeconds, attempt, estimateSeconds, requestId } = memo;
  const { resumedFrom, changedBy } = memo;
  const traceId = parseTrace(memo.traceparent)?.traceId;
  return {
    token,
    tool,
    principal,
    inputRequests: {},
    ...(memo.inputWaitSeconds === 0 ? { asksNothing: true as const } : {}),
    keepAliveSeconds,
    attempt,
    live: false,
    estimateSeconds,
    resumedFrom,
    changedBy,
    requestId,
    traceId,
  };
}

/** How long a queued read waits for the running one, in milliseconds, so a slow read doesn't delay others. */
const QUEUE_LIMIT_MS = 100;

interface KeyReads<T> {
  running: Promise<T>;
  queued?: Promise<T>;
}

/** Reads that concurrent callers share. Callers join only a queued read, not yet sent, so they see all that happened before their call. */
export class SharedReads<T> {
  readonly #reads = new Map<string, KeyReads<T>>();

  /** Reads now, or with the queued read. @param key callers with equal keys share reads @param read must be equivalent for equal keys */
  read(key: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#reads.get(key);
    if (!reads) return this.#run(key, read);
    reads.queued ??= withTimeout(Promise.allSettled([reads.running]), QUEUE_LIMIT_MS).then(() =>
      this.#run(key, read),
    );
    return reads.queued;
  }

  #run(key: string, read: () => Promise<T>): Promise<T> {
    const reads: KeyReads<T> = { running: read() };
    this.#reads.set(key, reads);
    return reads.running.finally(() => {
      // A queued read replaces this entry once sent.
      if (this.#reads.get(key) === reads && !reads.queued) this.#reads.delete(key);
    });
  }
}

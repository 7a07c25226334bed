/**
 * Reads of an operation: a describe call, merged into the record. It needs no worker. For a closed operation, the result or
 * failure is read too, and the record is cached for a few seconds.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { isPastKeepAlive } from '../operations/budgets.js';
import { isKind, LonghaulError } from '../operations/errors.js';
import type { InputRequest, OperationRecord } from '../operations/record.js';
import { parseTrace } from '../operations/trace-context.js';
import { START_MEMO, STATE_MEMO, type StartMemo, type StateMemo } from '../operations/wire.js';
import type { ExternalWorkflow } from '../operations/external-workflow.js';
import type { Signer } from '../platform/signer.js';
import { recordedAnswers } from './answer/recorded.js';
import { cancellingMessage } from './cancelling.js';
import { describeClosed } from './closed.js';
import { createdAtOf, isOpen, startOf } from './description.js';
import { adoptedMemo, firstRunIdOf } from './external/adopted.js';
import { ExternalStates } from './external/state.js';
import type { Located, SealedRun } from './external/run-tokens.js';
import { cancelRequestOf, INITIAL_EVENTS, type CancelRequest } from './history.js';
import { OverdueRuns } from './overdue.js';
import { Places } from './places.js';
import { flattenParts, describeOpenParts, partRecord, type Part } from './parts.js';
import { ProgressReader } from './progress.js';
import { endIfRefused } from './refused.js';
import { SharedReads } from './shared-reads.js';
import type { TemporalClient } from './temporal.js';
import { describeRetries, describeBlockage } from './blockage.js';

/** How long a closed operation's record is cached, in milliseconds: a reset starts a new attempt under its token. */
const CLOSED_CACHE_MS = 5_000;
const CLOSED_CACHE_ENTRIES = 64;

/** Status message while an answer is queued, and no other question is open. */
const ANSWERED = 'answered, waiting for a worker';

/** An open operation while it is read. */
interface Reading {
  record: OperationRecord;
  /** Keys of questions whose answers are queued. */
  answered: ReadonlySet<string>;
  cancelRequest: CancelRequest | undefined;
}

/** Reads operations over one connection. */
export class Records {
  /** By token and run ID: a run may have been adopted by several. */
  readonly #closed = new LRUCache<string, OperationRecord>({
    max: CLOSED_CACHE_ENTRIES,
    ttl: CLOSED_CACHE_MS,
  });
  readonly #progress: ProgressReader;
  readonly overdue: OverdueRuns;
  readonly places: Places;
  readonly external: ExternalStates;
  readonly #shared = new SharedReads<OperationRecord>();

  /**
   * @param externalOf a tool's external workflow, by the tool's name
   * @param wake called when an external workflow's state may read differently than before
   */
  constructor(
    readonly temporal: TemporalClient,
    readonly signer: Signer,
    private readonly externalOf: (tool: string) => ExternalWorkflow | undefined,
    wake: (workflowId: string) => void,
  ) {
    this.#progress = new ProgressReader(temporal);
    this.overdue = new OverdueRuns(temporal);
    this.places = new Places(temporal);
    this.external = new ExternalStates(temporal, wake);
  }

  /**
   * Reads an operation. Concurrent callers share reads that begin after their call.
   *
   * @param found description of its workflow, if the caller has it already
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
      // It may have been deleted after the describe, with its history and storage: then this throws `not_found`.
      if (!isKind(error, 'unavailable'))
        await this.#startMemoOf(await this.temporal.describe(workflowId), principal, run);
      throw error;
    });
    // So may have a value that is lost.
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
    if (run?.tool === undefined) return startMemoOf(description, principal, run);
    const { retentionSeconds } = await this.temporal.facts();
    return adoptedMemo(description, { ...run, tool: run.tool }, retentionSeconds);
  }

  async #toRecord(
    description: WorkflowExecutionDescription,
    memo: StartMemo,
    token: string,
  ): Promise<OperationRecord> {
    const { temporal } = this;
    const ownState = description.memo?.[STATE_MEMO] as StateMemo | undefined;
    const isExternal = memo.runtime === 'none' && ownState === undefined;
    const external = isExternal
      ? await this.external.read(description, this.externalOf(memo.tool))
      : undefined;
    const state = external ?? ownState ?? {};
    const { stage, partial } = state;
    const answers = await recordedAnswers(temporal, this.signer, description, { start: memo, state });
    const answered = new Set(answers.filter((answer) => answer.state === 'queued').map(({ key }) => key));
    const createdAt = createdAtOf(memo, startOf(description));
    const parts = isOpen(description) ? await describeOpenParts(temporal, description) : [];
    for (const { part } of flattenParts(parts)) await endIfRefused(temporal, part.description);
    // External workflows may have written any time.
    const updatedAt = [createdAt, state.updatedAt ?? createdAt].sort().at(-1)!;
    const isCancelRequested =
      description.raw.workflowExtendedInfo?.cancelRequested ||
      state.cancelRequestedAt !== undefined ||
      description.status.name === 'CANCELLED';
    const { workflowId, runId } = description;
    const cancelRequest = isCancelRequested ? await cancelRequestOf(temporal, workflowId, runId) : undefined;
    const reading = await this.#progress.read(description, state, updatedAt, parts, cancelRequest?.reached);
    const record: OperationRecord = {
      ...startedRecord(token, memo),
      runId: description.runId,
      createdAt,
      status: 'working',
      ...reading,
      ...(isOpen(description) ? { readAt: new Date(await temporal.nowMs()).toISOString() } : {}),
      progressToken: memo.progressToken,
      stage,
      partial,
      ...(answers.length > 0 ? { answers } : {}),
    };
    if (isOpen(description))
      await this.#describeOpen(description, memo, state, flattenParts(parts), {
        record,
        answered,
        cancelRequest,
      });
    else await describeClosed(temporal, description, state, record, cancelRequest, isExternal);
    const canHavePartial = record.status !== 'completed' && record.status !== 'expired';
    if (state.isPartialLarge && record.partial === undefined && canHavePartial) record.isPartialLarge = true;
    // Longhaul's own operations end canceled once that was requested.
    if (isExternal && cancelRequest && record.cancelRequestedAt === undefined)
      record.cancelRequestedAt = state.cancelRequestedAt ?? cancelRequest.at ?? record.updatedAt;
    if (external && isOpen(description)) {
      const message = record.statusMessage ?? external.activity;
      const line = [message, external.problem].filter(Boolean).join('; ');
      if (line) record.statusMessage = line;
    }
    if (description.status.name === 'PAUSED') record.statusMessage = 'paused by an operator';
    return record;
  }

  async #describeOpen(
    { raw, workflowId, runId }: WorkflowExecutionDescription,
    { queue }: StartMemo,
    state: StateMemo,
    parts: { name: string; part: Part }[],
    { record, answered, cancelRequest }: Reading,
  ): Promise<void> {
    const { temporal } = this;
    const { pendingWorkflowTask: task } = raw;
    // A worker has taken an earlier run already.
    const isFirstRun = firstRunIdOf({ raw, runId }) === runId;
    const isSubmitted =
      isFirstRun && Number(raw.workflowExecutionInfo?.historyLength ?? 0) <= INITIAL_EVENTS && Boolean(task);
    const open = unanswered(state.inputRequests, answered);
    const queued = queue && state.turnAt === undefined ? queue.name : undefined;
    record.status =
      isSubmitted || queued !== undefined
        ? 'submitted'
        : Object.keys(open).length > 0
          ? 'input_required'
          : 'working';
    record.inputRequests = open;

    if (cancelRequest) {
      record.cancelRequestedAt = state.cancelRequestedAt ?? cancelRequest.at ?? record.updatedAt;
      const reason = state.cancelReason ?? cancelRequest.reason;
      if (reason) record.cancelReason = reason;
      if (!isSubmitted) record.status = 'working';
      record.inputRequests = {};
    }
    const descriptions = await Promise.all(
      parts.map(({ name, part }) =>
        this.#describePart(part, unanswered(part.state.inputRequests, answered, name)),
      ),
    );
    if (parts.length > 0)
      record.children = parts.map(({ name }, index) => partRecord(name, descriptions[index]!));
    const partBlockages = parts.flatMap(({ name }, index) => {
      const blocked = descriptions[index]!.blockage;
      return blocked === undefined ? [] : `${name}: ${blocked}`;
    });
    const blockage = (await describeBlockage(temporal, raw, workflowId)) ?? partBlockages[0];
    const isAnswered = answered.size > 0 && Object.keys(open).length === 0;
    const waiting = isAnswered ? [ANSWERED, blockage].filter(Boolean).join('; ') : blockage;
    const message =
      (record.cancelRequestedAt ? await cancellingMessage(temporal, raw, record, blockage) : waiting) ??
      (record.status === 'input_required' ? Object.values(open)[0]?.message.split('\n', 1)[0] : undefined) ??
      (isSubmitted ? 'waiting for a worker' : undefined) ??
      (queued === undefined ? undefined : await this.places.messageOf(queued, workflowId)) ??
      (await statusLine(temporal, raw, workflowId, record));
    if (message) record.statusMessage = message;
  }

  /** A part's status message, and its blockage, if there is one. @param open its questions without an answer */
  async #describePart(
    part: Part,
    open: Record<string, InputRequest>,
  ): Promise<{ isAsking: boolean; message: string | undefined; blockage?: string }> {
    const { description, state } = part;
    const { raw, workflowId } = description;
    const { temporal } = this;
    const [asked] = Object.values(open);
    const isAsking = asked !== undefined;
    const blockage = await describeBlockage(temporal, raw, workflowId);
    if (blockage !== undefined) return { isAsking, message: blockage, blockage };
    if (asked) return { isAsking, message: asked.message.split('\n', 1)[0] };
    if (Object.keys(state.inputRequests ?? {}).length > 0) return { isAsking, message: ANSWERED };
    const { progress } = await this.#progress.readPart(part);
    const shown = { ...state, ...(progress ? { progress } : {}) };
    return { isAsking, message: await statusLine(temporal, raw, workflowId, shown) };
  }
}

/** Questions without queued answers. @param part name of the part that asks. Default: the operation itself */
function unanswered(
  inputRequests: Record<string, InputRequest> = {},
  answered: ReadonlySet<string>,
  part?: string,
): Record<string, InputRequest> {
  const keyInOperation = (key: string) => (part === undefined ? key : `${part}/${key}`);
  return Object.fromEntries(
    Object.entries(inputRequests).filter(([key]) => !answered.has(keyInOperation(key))),
  );
}

function attemptKey(token: string, runId: string): string {
  return `${token}\n${runId}`;
}

/** The part of a record that is fixed by the start. */
export function startedRecord(token: string, memo: StartMemo) {
  const { tool, principal, keepAliveSeconds, attempt, estimateSeconds, requestId } = memo;
  const { resumedFrom, changedBy } = memo;
  const traceId = parseTrace(memo.traceparent)?.traceId;
  return {
    token,
    tool,
    principal,
    inputRequests: {},
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

/**
 * Start memo of an operation.
 *
 * @param run content of its token, if that is sealed
 * @throws LonghaulError `not_found` if it is not an operation, another principal's, or another one of the same workflow ID
 */
export function startMemoOf(
  description: WorkflowExecutionDescription,
  principal: string,
  run?: SealedRun,
): StartMemo {
  const memo = description.memo?.[START_MEMO] as StartMemo | undefined;
  const isNamed = memo?.hasSealedToken ? run && run.startId === memo.startId : !run;
  if (memo?.version !== 1 || memo.principal !== principal || !isNamed)
    throw new LonghaulError('not_found', 'operation not found');
  return memo;
}

/** Stage, progress and attempts of retried activities in one line: `profile: 3 of 10 (attempt 2)`. */
async function statusLine(
  temporal: TemporalClient,
  raw: WorkflowExecutionDescription['raw'],
  workflowId: string,
  record: Pick<OperationRecord, 'stage' | 'progress'>,
): Promise<string | undefined> {
  const live = progressLine(record);
  const retries = await describeRetries(temporal, raw, workflowId);
  return retries ? `${live ?? 'working'} (${retries})` : live;
}

/** Stage and progress in one line: `profile: 3 of 10, column "delay"`. */
function progressLine({ stage, progress }: Pick<OperationRecord, 'stage' | 'progress'>): string | undefined {
  const amount =
    progress && `${progress.progress}${progress.total === undefined ? '' : ` of ${progress.total}`}`;
  const parts = [stage, [amount, progress?.message].filter(Boolean).join(', ')].filter(Boolean);
  return parts.length ? parts.join(': ') : undefined;
}

/**
 * Reading an operation: describe, merged into the record. It needs no worker. For a closed operation, the result or
 * failure is read too, and the record kept for a few seconds.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LonghaulError } from '../operations/errors.js';
import type { OperationRecord } from '../operations/record.js';
import { START_MEMO, STATE_MEMO, type StartMemo, type StateMemo } from '../operations/wire.js';
import { cancellingMessage } from './cancelling.js';
import { describeClosed, isPastKeepAlive } from './closed.js';
import { cancelRequestOf, UNTAKEN_EVENTS } from './history.js';
import { flattened, openParts, recordOf, type Part } from './parts.js';
import { ProgressReader } from './progress.js';
import type { TemporalClient } from './temporal.js';
import { retriesOf, describeBlockage } from './blockage.js';

/** How long a closed operation's record is kept, in milliseconds: a reset starts a new attempt under its token. */
const CLOSED_CACHE_MS = 5_000;
const CLOSED_CACHE_ENTRIES = 64;

interface KeptRecord {
  record: OperationRecord;
  /** Whether its result had expired when it was read. */
  isPastKeepAlive: boolean;
  /** By the monotonic clock: the system's may be set. */
  readAtMs: number;
}

/** Reads operations over one connection. */
export class Records {
  readonly #closed = new Map<string, KeptRecord>();
  readonly #progress: ProgressReader;

  constructor(readonly temporal: TemporalClient) {
    this.#progress = new ProgressReader(temporal);
  }

  /**
   * Reads an operation.
   *
   * @param found its workflow, where it was described already
   * @throws LonghaulError `not_found` alike for unknown, purged and other principals' operations; `unavailable`
   */
  async read(
    principal: string,
    token: string,
    workflowId: string,
    found?: WorkflowExecutionDescription,
  ): Promise<OperationRecord> {
    const description = found ?? (await this.temporal.describe(workflowId));
    const memo = startMemoOf(description, principal);
    const kept = this.#closed.get(description.runId);
    const isFresh =
      kept &&
      performance.now() - kept.readAtMs < CLOSED_CACHE_MS &&
      isPastKeepAlive(kept.record) === kept.isPastKeepAlive;
    if (isFresh && description.status.name !== 'RUNNING') return kept.record;
    const record = await this.#toRecord(description, memo, token).catch(async (error: unknown) => {
      // Deleted since it was described: what its history or storage held is gone, and then it isn't found either.
      if (!(error instanceof LonghaulError && error.kind === 'unavailable'))
        startMemoOf(await this.temporal.describe(workflowId), principal);
      throw error;
    });
    if (record.closedAt) this.#keep(record);
    return record;
  }

  #keep(record: OperationRecord): void {
    const kept = { record, isPastKeepAlive: isPastKeepAlive(record), readAtMs: performance.now() };
    this.#closed.set(record.runId, kept);
    if (this.#closed.size > CLOSED_CACHE_ENTRIES) this.#closed.delete(this.#closed.keys().next().value!);
  }

  async #toRecord(
    description: WorkflowExecutionDescription,
    memo: StartMemo,
    token: string,
  ): Promise<OperationRecord> {
    const { temporal } = this;
    const state = (description.memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
    const createdAt = memo.createdAt ?? description.startTime.toISOString();
    const isOpen = description.status.name === 'RUNNING';
    const parts = isOpen ? await openParts(temporal, description) : [];
    const standing = await this.#progress.read(description, state, state.updatedAt ?? createdAt, parts);
    const record: OperationRecord = {
      token,
      runId: description.runId,
      tool: memo.tool,
      principal: memo.principal,
      createdAt,
      status: 'working',
      ...standing,
      inputRequests: {},
      keepAliveSeconds: memo.keepAliveSeconds,
      attempt: memo.attempt,
      live: false,
      ...(memo.estimateSeconds === undefined ? {} : { estimateSeconds: memo.estimateSeconds }),
      ...(memo.resumedFrom === undefined ? {} : { resumedFrom: memo.resumedFrom }),
      ...(memo.progressToken === undefined ? {} : { progressToken: memo.progressToken }),
      ...(memo.requestId === undefined ? {} : { requestId: memo.requestId }),
      ...(state.stage === undefined ? {} : { stage: state.stage }),
      ...(state.answers === undefined ? {} : { answers: state.answers }),
      ...(state.partial === undefined ? {} : { partial: state.partial }),
    };
    if (isOpen) await this.#describeOpen(description, state, flattened(parts), record);
    else await describeClosed(temporal, description, state, record);
    return record;
  }

  async #describeOpen(
    { raw, workflowId }: WorkflowExecutionDescription,
    state: StateMemo,
    parts: { name: string; part: Part }[],
    record: OperationRecord,
  ): Promise<void> {
    const { temporal } = this;
    const { pendingWorkflowTask: task } = raw;
    // A run that continues another one starts with that one's state.
    const isUntouched =
      Number(raw.workflowExecutionInfo?.historyLength ?? 0) <= UNTAKEN_EVENTS &&
      Boolean(task) &&
      !state.inputRequests;
    const open = state.inputRequests ?? {};
    record.status = isUntouched ? 'submitted' : Object.keys(open).length > 0 ? 'input_required' : 'working';
    record.inputRequests = open;

    if (raw.workflowExtendedInfo?.cancelRequested || state.cancelRequestedAt) {
      const request = await cancelRequestOf(temporal, workflowId);
      record.cancelRequestedAt = state.cancelRequestedAt ?? request.at ?? record.updatedAt;
      const reason = state.cancelReason ?? request.reason;
      if (reason) record.cancelReason = reason;
      if (record.status === 'input_required') record.status = 'working';
      record.inputRequests = {};
    }
    const lines = await Promise.all(parts.map(({ part }) => this.#lineOfPart(part)));
    if (parts.length > 0)
      record.children = parts.map(({ name, part }, index) => recordOf(name, part, lines[index]!.line));
    const inParts = parts.flatMap(({ name }, index) => {
      const { trouble } = lines[index]!;
      return trouble === undefined ? [] : `${name}: ${trouble}`;
    });
    const trouble = (await describeBlockage(temporal, raw, workflowId)) ?? inParts[0];
    const message =
      (record.cancelRequestedAt ? await cancellingMessage(temporal, raw, record, trouble) : trouble) ??
      (record.status === 'input_required' ? Object.values(open)[0]?.message.split('\n', 1)[0] : undefined) ??
      (record.status === 'submitted' ? 'waiting for a worker' : undefined) ??
      (await liveLine(temporal, raw, workflowId, record));
    if (message) record.statusMessage = message;
  }

  /** A part's status in one line, and what blocks it, if anything does. */
  async #lineOfPart(part: Part): Promise<{ line: string | undefined; trouble?: string }> {
    const { description, state } = part;
    const { raw, workflowId } = description;
    const { temporal } = this;
    const trouble = await describeBlockage(temporal, raw, workflowId);
    if (trouble !== undefined) return { line: trouble, trouble };
    const asked = Object.values(state.inputRequests ?? {})[0]?.message.split('\n', 1)[0];
    if (asked !== undefined) return { line: asked };
    const { progress } = await this.#progress.readPart(part);
    return {
      line: await liveLine(temporal, raw, workflowId, { ...state, ...(progress ? { progress } : {}) }),
    };
  }
}

/** @throws LonghaulError `not_found` for workflows that are no operations, or another principal's */
export function startMemoOf(description: WorkflowExecutionDescription, principal: string): StartMemo {
  const memo = description.memo?.[START_MEMO] as StartMemo | undefined;
  if (memo?.version !== 1 || memo.principal !== principal)
    throw new LonghaulError('not_found', 'operation not found');
  return memo;
}

/** Stage and progress, with the attempts of what is tried again: `profile: 3 of 10 (attempt 2)`. */
async function liveLine(
  temporal: TemporalClient,
  raw: WorkflowExecutionDescription['raw'],
  workflowId: string,
  record: Pick<OperationRecord, 'stage' | 'progress'>,
): Promise<string | undefined> {
  const live = line(record);
  const retries = await retriesOf(temporal, raw, workflowId);
  return retries ? `${live ?? 'working'} (${retries})` : live;
}

/** Stage and progress in one line: `profile: 3 of 10, column "delay"`. */
function line({ stage, progress }: Pick<OperationRecord, 'stage' | 'progress'>): string | undefined {
  const amount =
    progress && `${progress.progress}${progress.total === undefined ? '' : ` of ${progress.total}`}`;
  const parts = [stage, [amount, progress?.message].filter(Boolean).join(', ')].filter(Boolean);
  return parts.length ? parts.join(': ') : undefined;
}

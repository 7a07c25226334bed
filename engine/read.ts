/**
 * Reading an operation: describe, merged into the record. It needs no worker. Of a closed operation, the result or
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
import { standingOf, standingOfPart } from './progress.js';
import type { TemporalClient } from './temporal.js';
import { retriesOf, describeBlockage } from './blockage.js';

/** How long a closed operation's record is kept, in milliseconds: a reset starts a new attempt under its token. */
const CLOSED_CACHE_MS = 5_000;
const CLOSED_CACHE_ENTRIES = 64;

interface KeptRecord {
  record: OperationRecord;
  /** Had its result expired when it was read? */
  isPastKeepAlive: boolean;
  /** On the process's own clock: the system's may be set. */
  readAtMs: number;
}

const closedRecords = new Map<string, KeptRecord>();

/**
 * Reads an operation.
 *
 * @param found its workflow, where it was described already
 * @throws LonghaulError `not_found` alike for unknown, purged and other principals' operations; `unavailable`
 */
export async function readOperation(
  temporal: TemporalClient,
  principal: string,
  token: string,
  workflowId: string,
  found?: WorkflowExecutionDescription,
): Promise<OperationRecord> {
  const description = found ?? (await temporal.describe(workflowId));
  const marker = markerOf(description, principal);
  const cacheKey = description.runId;
  const kept = closedRecords.get(cacheKey);
  const isFresh =
    kept &&
    performance.now() - kept.readAtMs < CLOSED_CACHE_MS &&
    isPastKeepAlive(kept.record) === kept.isPastKeepAlive;
  if (isFresh && description.status.name !== 'RUNNING') return kept.record;
  const record = await toRecord(temporal, description, marker, token).catch(async (error: unknown) => {
    // Deleted since it was described: what its history or storage held is gone, and then it isn't found either.
    if (!(error instanceof LonghaulError && error.kind === 'unavailable'))
      markerOf(await temporal.describe(workflowId), principal);
    throw error;
  });
  if (record.closedAt) {
    closedRecords.set(cacheKey, {
      record,
      isPastKeepAlive: isPastKeepAlive(record),
      readAtMs: performance.now(),
    });
    if (closedRecords.size > CLOSED_CACHE_ENTRIES) closedRecords.delete(closedRecords.keys().next().value!);
  }
  return record;
}

/** @throws LonghaulError `not_found` for workflows that are no operations, or another principal's */
export function markerOf(description: WorkflowExecutionDescription, principal: string): StartMemo {
  const marker = description.memo?.[START_MEMO] as StartMemo | undefined;
  if (marker?.version !== 1 || marker.principal !== principal)
    throw new LonghaulError('not_found', 'operation not found');
  return marker;
}

async function toRecord(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  marker: StartMemo,
  token: string,
): Promise<OperationRecord> {
  const state = (description.memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
  const createdAt = marker.createdAt ?? description.startTime.toISOString();
  const isOpen = description.status.name === 'RUNNING';
  const parts = isOpen ? await openParts(temporal, description) : [];
  const standing = await standingOf(temporal, description, state, state.updatedAt ?? createdAt, parts);
  const record: OperationRecord = {
    token,
    runId: description.runId,
    tool: marker.tool,
    principal: marker.principal,
    createdAt,
    status: 'working',
    ...standing,
    inputRequests: {},
    keepAliveSeconds: marker.keepAliveSeconds,
    attempt: marker.attempt,
    live: false,
    ...(marker.estimateSeconds === undefined ? {} : { estimateSeconds: marker.estimateSeconds }),
    ...(marker.resumedFrom === undefined ? {} : { resumedFrom: marker.resumedFrom }),
    ...(marker.progressToken === undefined ? {} : { progressToken: marker.progressToken }),
    ...(marker.requestId === undefined ? {} : { requestId: marker.requestId }),
    ...(state.stage === undefined ? {} : { stage: state.stage }),
    ...(state.answers === undefined ? {} : { answers: state.answers }),
    ...(state.partial === undefined ? {} : { partial: state.partial }),
  };
  if (isOpen) await describeOpen(temporal, description, state, flattened(parts), record);
  else await describeClosed(temporal, description, state, record);
  return record;
}

async function describeOpen(
  temporal: TemporalClient,
  { raw, workflowId }: WorkflowExecutionDescription,
  state: StateMemo,
  parts: { name: string; part: Part }[],
  record: OperationRecord,
): Promise<void> {
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
  const lines = await Promise.all(parts.map(({ part }) => lineOfPart(temporal, part)));
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

/** A part's status in one line; and what keeps it from going on, if anything does. */
async function lineOfPart(
  temporal: TemporalClient,
  part: Part,
): Promise<{ line: string | undefined; trouble?: string }> {
  const { description, state } = part;
  const { raw, workflowId } = description;
  const trouble = await describeBlockage(temporal, raw, workflowId);
  if (trouble !== undefined) return { line: trouble, trouble };
  const asked = Object.values(state.inputRequests ?? {})[0]?.message.split('\n', 1)[0];
  if (asked !== undefined) return { line: asked };
  const { progress } = await standingOfPart(temporal, part);
  return { line: await liveLine(temporal, raw, workflowId, { ...state, ...(progress ? { progress } : {}) }) };
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

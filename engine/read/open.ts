/** Record of an open operation: its questions, its parts, and what it waits for. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { defined } from '../../operations/json/defined.js';
import type { ChildRecord, InputRequest, OperationRecord } from '../../operations/record.js';
import type { StartMemo } from '../../operations/wire/index.js';
import type { PublishedState } from '../../operations/wire/state.js';
import { DEFAULT_CLEANUP_SECONDS, humanDuration } from '../../operations/tool/budgets.js';
import { describeBlockage, describeRetries, shortLine } from './blockage.js';
import { cancellingMessage } from '../end/cancelling.js';
import { firstRunIdOf } from '../external/adopt.js';
import type { ExternalState } from '../external/state.js';
import { INITIAL_EVENTS, type CancelRequest } from './history.js';
import type { Part } from './parts.js';
import type { Places } from '../start/places.js';
import type { ProgressReader } from './progress.js';
import type { TemporalClient } from '../temporal/client.js';

/** Status message while an answer is queued and no question is open. */
const ANSWERED = 'answered, waiting for a worker';

interface Sources {
  temporal: TemporalClient;
  places: Places;
  progress: ProgressReader;
}

interface OpenOperation {
  description: WorkflowExecutionDescription;
  memo: StartMemo;
  state: PublishedState;
  /** State by the external workflow's file. */
  external: ExternalState | undefined;
  parts: { name: string; part: Part }[];
  answered: ReadonlySet<string>;
  cancelRequest: CancelRequest | undefined;
  base: Pick<OperationRecord, 'stage' | 'progress' | 'updatedAt'>;
}

/** The fields that only an open operation's record has, or that depend on what it waits for. */
export async function openFields(
  sources: Sources,
  operation: OpenOperation,
): Promise<Partial<OperationRecord>> {
  const { temporal } = sources;
  const { description, memo, state, external, answered, cancelRequest, base } = operation;
  const { raw, workflowId, runId } = description;
  // A worker has taken an earlier run already.
  const isFirstRun = firstRunIdOf({ raw, runId }) === runId;
  const isSubmitted =
    isFirstRun &&
    Number(raw.workflowExecutionInfo?.historyLength ?? 0) <= INITIAL_EVENTS &&
    Boolean(raw.pendingWorkflowTask);
  const open = unanswered(state.inputRequests, answered);
  const [asked] = Object.values(open);
  const queued = memo.queue && state.turnAt === undefined ? memo.queue.name : undefined;
  const ownStatus = isSubmitted || queued !== undefined ? 'submitted' : asked ? 'input_required' : 'working';
  const { children, blockage: partBlockage } = await describeParts(sources, operation);
  const blockage = (await describeBlockage(temporal, raw, workflowId)) ?? partBlockage;
  const isAnswered = answered.size > 0 && !asked;
  const waiting = isAnswered ? [ANSWERED, blockage].filter(Boolean).join('; ') : blockage;
  const ownMessage =
    (cancelRequest
      ? offeringForce(
          await cancellingMessage(temporal, raw, base, blockage),
          operation,
          await temporal.nowMs(),
        )
      : waiting) ??
    (ownStatus === 'input_required' ? shortLine(asked!.message) : undefined) ??
    (isSubmitted ? 'waiting for a worker' : undefined) ??
    (queued === undefined ? undefined : await sources.places.messageOf(queued, workflowId)) ??
    (await statusLine(temporal, raw, workflowId, base));
  // A paused workflow answers no query.
  const problem = description.status.name === 'PAUSED' ? undefined : external?.problem;
  const message = external
    ? [ownMessage ?? external.activity, problem].filter(Boolean).join('; ')
    : ownMessage;
  return {
    readAt: new Date(await temporal.nowMs()).toISOString(),
    status: ownStatus,
    inputRequests: open,
    ...(cancelRequest ? cancelFields(operation, cancelRequest, isSubmitted) : {}),
    ...defined({ children, statusMessage: message || undefined }),
  };
}

/** Adds how to end an operation whose cleanups have had their time. */
function offeringForce(
  message: string,
  { memo, state, cancelRequest }: OpenOperation,
  nowMs: number,
): string {
  const requestedAt = state.cancelRequestedAt ?? cancelRequest?.at;
  const { cleanupSeconds = DEFAULT_CLEANUP_SECONDS } = memo;
  if (requestedAt === undefined || nowMs - Date.parse(requestedAt) < cleanupSeconds * 1_000) return message;
  return (
    `${message}; the cancel has had no effect for over ${humanDuration(cleanupSeconds)}: longhaul cancel --force, ` +
    'or force in operation_cancel, ends it without its cleanups'
  );
}

function cancelFields(
  { state, base }: OpenOperation,
  { at, reason }: CancelRequest,
  isSubmitted: boolean,
): Partial<OperationRecord> {
  const cancelReason = (state.cancelReason ?? reason) || undefined;
  return {
    cancelRequestedAt: state.cancelRequestedAt ?? at ?? base.updatedAt,
    inputRequests: {},
    ...(isSubmitted ? {} : { status: 'working' as const }),
    ...defined({ cancelReason }),
  };
}

/** Records of the parts, if any, and the blockage of the first blocked one. */
async function describeParts(
  sources: Sources,
  { parts, answered }: OpenOperation,
): Promise<{ children: OperationRecord['children']; blockage: string | undefined }> {
  const described = await Promise.all(
    parts.map(({ name, part }) =>
      describePart(sources, part, unanswered(part.state.inputRequests, answered, name)),
    ),
  );
  const blocked = described.findIndex(({ blockage }) => blockage !== undefined);
  const children = described.map(({ isAsking, message }, index): ChildRecord => ({
    name: parts[index]!.name,
    status: isAsking ? 'input_required' : 'working',
    statusMessage: message,
    steps: [],
  }));
  return {
    children: parts.length > 0 ? children : undefined,
    blockage: blocked < 0 ? undefined : `${parts[blocked]!.name}: ${described[blocked]!.blockage}`,
  };
}

/** A part's status message and blockage. @param open its unanswered questions */
async function describePart(
  { temporal, progress: progressReader }: Sources,
  part: Part,
  open: Record<string, InputRequest>,
): Promise<{ isAsking: boolean; message: string | undefined; blockage?: string }> {
  const { description, state } = part;
  const { raw, workflowId } = description;
  const [asked] = Object.values(open);
  const isAsking = asked !== undefined;
  const blockage = await describeBlockage(temporal, raw, workflowId);
  if (blockage !== undefined) return { isAsking, message: blockage, blockage };
  if (asked) return { isAsking, message: shortLine(asked.message) };
  if (Object.keys(state.inputRequests ?? {}).length > 0) return { isAsking, message: ANSWERED };
  const { progress } = await progressReader.readPart(part);
  const shown = { ...state, ...(progress ? { progress } : {}) };
  return { isAsking, message: await statusLine(temporal, raw, workflowId, shown) };
}

/** Questions without queued answers. @param part name of the asking part. Default: the operation itself */
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
  const parts = [stage, [amount, progress?.message].filter(Boolean).join(', ')].filter((part) => part);
  return parts.length ? parts.map((part) => shortLine(part!)).join(': ') : undefined;
}

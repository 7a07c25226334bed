/** Converts results of the operation tools to the command line's types, with the statuses of the record. */
import type { PartStatuses } from '../../operations/wire/meta-keys.js';
import type { OperationStatus, UnsavedArtifact } from '../../operations/record.js';
import type { Child, ListedOperation, OperationSteps } from '../client/wire.js';

interface PlainOperation {
  token: string;
  tool: string;
  owner?: string;
  stage?: string;
  created_at: string;
  closed_at?: string;
  estimate_seconds?: number;
  worked_seconds?: number;
  problem?: string;
}

export interface PlainPage {
  operations: PlainOperation[];
  next_cursor?: string;
}

interface PlainChild {
  name: string;
  status_message?: string;
  item?: unknown;
  host?: string;
  steps?: {
    name: string;
    exit_code?: number;
    started_at?: string;
    closed_at?: string;
    logs_of?: string;
  }[];
  outputs?: Record<string, string>;
  artifacts?: { name: string; uri: string; mime_type: string; bytes: number }[];
  unsaved_artifacts?: UnsavedArtifact[];
}

/** The view `steps` of `operation_get`. */
export interface PlainSteps extends PlainOperation {
  children?: PlainChild[];
  is_live: boolean;
}

/** @param statuses of the children */
export function toOperationSteps(
  { children, is_live, ...operation }: PlainSteps,
  status: OperationStatus,
  statuses: PartStatuses[],
): OperationSteps {
  const { token, tool, createdAt, closedAt } = operationFrom(operation, status);
  return {
    token,
    tool,
    status,
    createdAt,
    closedAt,
    ...(children === undefined
      ? {}
      : { children: children.map((child, index) => childFrom(child, statuses[index]!)) }),
    isLive: is_live,
  };
}

/** @param statuses of the operations */
export function toOperationPage(
  { operations, next_cursor }: PlainPage,
  statuses: OperationStatus[],
): { operations: ListedOperation[]; nextCursor?: string } {
  return {
    operations: operations.map((operation, index) => operationFrom(operation, statuses[index]!)),
    nextCursor: next_cursor,
  };
}

function operationFrom(
  {
    token,
    owner,
    tool,
    stage,
    created_at,
    closed_at,
    estimate_seconds,
    worked_seconds,
    problem,
  }: PlainOperation,
  status: OperationStatus,
): ListedOperation {
  return {
    token,
    tool,
    status,
    owner,
    stage,
    createdAt: created_at,
    closedAt: closed_at,
    estimateSeconds: estimate_seconds,
    workedSeconds: worked_seconds,
    problem,
  };
}

function childFrom(
  { status_message, artifacts, unsaved_artifacts, steps = [], ...rest }: PlainChild,
  statuses: PartStatuses,
): Child {
  return {
    ...rest,
    status: statuses.status,
    statusMessage: status_message,
    unsavedArtifacts: unsaved_artifacts,
    steps: steps.map(({ name, exit_code, started_at, closed_at, logs_of }, index) => ({
      name,
      status: statuses.steps[index]!,
      exitCode: exit_code,
      startedAt: started_at,
      closedAt: closed_at,
      logsOf: logs_of,
    })),
    ...(artifacts === undefined
      ? {}
      : { artifacts: artifacts.map(({ mime_type, ...file }) => ({ ...file, mimeType: mime_type })) }),
  };
}

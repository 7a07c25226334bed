/** What the tools about operations give, in the words and shapes of the command line. */
import type { ChildStatus } from '../../operations/record.js';
import type { Child, ListedOperation, OperationSteps } from './wire.js';

interface PlainOperation {
  token: string;
  tool: string;
  status: string;
  stage?: string;
  created_at: string;
  closed_at?: string;
  estimate_seconds?: number;
  worked_seconds?: number;
}

export interface PlainPage {
  operations: PlainOperation[];
  next_cursor?: string;
}

interface PlainChild {
  name: string;
  status: string;
  status_message?: string;
  item?: unknown;
  host?: string;
  steps?: {
    name: string;
    status: string;
    exit_code?: number;
    started_at?: string;
    closed_at?: string;
    logs_of?: string;
  }[];
  outputs?: Record<string, string>;
  artifacts?: { name: string; uri: string; mime_type: string; bytes: number }[];
}

/** The view `steps` of `operation_get`. */
export interface PlainSteps extends PlainOperation {
  children?: PlainChild[];
  is_live: boolean;
}

/** Plain tools' words, and those of every command. */
const WORDS: Record<string, string> = {
  running: 'working',
  cancelled: 'canceled',
  errored: 'timed_out',
};

/** A status as the tools are asked for it: what has just been started counts as running. */
export function plainStatus(status: string): string {
  if (status === 'submitted') return 'running';
  return Object.entries(WORDS).find(([, word]) => word === status)?.[0] ?? status;
}

export function stepsFrom({ children, is_live, ...operation }: PlainSteps): OperationSteps {
  const { token, tool, status, createdAt, closedAt } = operationFrom(operation);
  return {
    token,
    tool,
    status,
    createdAt,
    ...(closedAt === undefined ? {} : { closedAt }),
    ...(children === undefined ? {} : { children: children.map(childFrom) }),
    isLive: is_live,
  };
}

export function pageFrom({ operations, next_cursor }: PlainPage): {
  operations: ListedOperation[];
  nextCursor?: string;
} {
  return {
    operations: operations.map(operationFrom),
    ...(next_cursor === undefined ? {} : { nextCursor: next_cursor }),
  };
}

function operationFrom({
  token,
  tool,
  status,
  stage,
  created_at,
  closed_at,
  estimate_seconds,
  worked_seconds,
}: PlainOperation): ListedOperation {
  return {
    token,
    tool,
    status: status === 'queued' ? 'submitted' : (WORDS[status] ?? status),
    ...(stage === undefined ? {} : { stage }),
    createdAt: created_at,
    ...(closed_at === undefined ? {} : { closedAt: closed_at }),
    ...(estimate_seconds === undefined ? {} : { estimateSeconds: estimate_seconds }),
    ...(worked_seconds === undefined ? {} : { workedSeconds: worked_seconds }),
  };
}

function childFrom({ status_message, artifacts, status, steps = [], ...rest }: PlainChild): Child {
  return {
    ...rest,
    status: partStatus(status),
    ...(status_message === undefined ? {} : { statusMessage: status_message }),
    steps: steps.map(({ name, status, exit_code, started_at, closed_at, logs_of }) => ({
      name,
      status: partStatus(status),
      ...(exit_code === undefined ? {} : { exitCode: exit_code }),
      ...(started_at === undefined ? {} : { startedAt: started_at }),
      ...(closed_at === undefined ? {} : { closedAt: closed_at }),
      ...(logs_of === undefined ? {} : { logsOf: logs_of }),
    })),
    ...(artifacts === undefined
      ? {}
      : { artifacts: artifacts.map(({ mime_type, ...file }) => ({ ...file, mimeType: mime_type })) }),
  };
}

function partStatus(status: string): ChildStatus {
  return (status === 'queued' ? 'pending' : (WORDS[status] ?? status)) as ChildStatus;
}

/** Changes of a caller's operations, from one list per interval (Temporal limits lists) and reads of older open operations. */
import { defined } from '../../operations/json/defined.js';
import { isTerminal, type OperationStatus } from '../../operations/record.js';
import { listOperations } from '../client/operation-tools.js';
import type { OperationPage } from '../client/plain.js';
import { pause, ReconnectPolicy, type ReconnectOptions } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import { progressOf, type ListedOperation } from '../client/wire.js';

export const LIST_INTERVAL_MS = 5_000;
/** The server's maximum page size. */
const PAGE = 100;
/** Maximum reads of single operations in an interval. Others take turns. */
const MAX_READS = 50;
/** Number of remembered closed operations, which aren't shown twice. */
const REMEMBERED = 1_000;

export interface ChangesFilter {
  tool?: string;
  everyone?: boolean;
}

/** Open operations: those with questions, then the others, each newest first. At most {@link PAGE} of each. */
export async function openOperations(session: Session, filter: ChangesFilter): Promise<ListedOperation[]> {
  const pages: OperationPage[] = [];
  for (const status of ['input_required', 'working'] as const)
    pages.push(await listOperations(session, { ...filter, status, limit: PAGE }));
  return pages.flatMap(({ operations }) => operations);
}

/** Yields every open operation, then each change of status or stage, until aborted. @throws Unreachable, RpcError, ToolRefusal */
export async function* operationChanges(
  session: Session,
  filter: ChangesFilter,
  intervalMs: number,
  options: ReconnectOptions,
): AsyncGenerator<ListedOperation> {
  const { signal } = options;
  const reconnects = new ReconnectPolicy(options);
  const known = new Map<string, ListedOperation>();
  const startedAt = new Date().toISOString();
  const isNew = (operation: ListedOperation): boolean => {
    const before = known.get(operation.token);
    // Lists lag, so the known state may be newer.
    if (before && isTerminal(before.status) && !isTerminal(operation.status)) return false;
    known.delete(operation.token);
    known.set(operation.token, operation);
    return before === undefined || stateKey(before) !== stateKey(operation);
  };
  const open = await reconnects.retryUntilAnswered(() => openOperations(session, filter));
  for (const operation of (open ?? []).reverse()) if (isNew(operation)) yield operation;
  while (!signal.aborted) {
    await pause(Math.max(LIST_INTERVAL_MS, intervalMs), signal);
    const page = await reconnects.retryUntilAnswered(() =>
      listOperations(session, { ...filter, limit: PAGE }),
    );
    const listed = (page?.operations ?? []).filter(
      ({ token, closedAt }) => known.has(token) || closedAt === undefined || closedAt > startedAt,
    );
    for (const operation of listed.reverse()) if (isNew(operation)) yield operation;
    const tokens = new Set(listed.map(({ token }) => token));
    const older = [...known.values()].filter(
      ({ token, status }) => !tokens.has(token) && !isTerminal(status),
    );
    for (const before of older.slice(0, MAX_READS)) {
      const now = await reconnects.retryUntilAnswered(() => currentState(session, before, signal));
      if (now && isNew(now)) yield now;
    }
    for (const { token } of [...known.values()]
      .filter(({ status }) => isTerminal(status))
      .slice(0, -REMEMBERED))
      known.delete(token);
  }
}

function stateKey({ status, stage }: ListedOperation): string {
  return `${status}\n${stage ?? ''}`;
}

/** Reads an operation. If it no longer exists, it has expired. */
async function currentState(
  session: Session,
  before: ListedOperation,
  signal: AbortSignal,
): Promise<ListedOperation> {
  try {
    const task = await session.task(before.token, signal);
    const { stage } = progressOf(task);
    const closedAt = isTerminal(task.status) ? { closedAt: task.lastUpdatedAt } : {};
    return { ...before, status: task.status, ...defined({ stage }), ...closedAt };
  } catch (error) {
    const isGone = (error as { kind?: string; code?: number }).kind === 'not_found' || isExpired(error);
    if (!isGone) throw error;
    return { ...before, status: 'expired' satisfies OperationStatus };
  }
}

function isExpired(error: unknown): boolean {
  return (error as Error).name === 'RpcError' && (error as { code?: number }).code === -32602;
}

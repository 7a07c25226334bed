/** Compares estimated with actual durations of tools. */
import { median } from '../../operations/estimate.js';
import { listOperations, type OperationPage } from '../client/operation-tools.js';
import type { Session } from '../client/session.js';
import { textTable } from '../terminal/table.js';
import type { ListedOperation } from '../client/wire.js';

/** Number of completed operations to read, latest first, and the server's page size. */
const LOOKED_AT = 500;
const PAGE_LIMIT = 100;
const RUNS_EACH = 20;

/** A completed run. Durations exclude people's time to answer. */
interface ComparedRun {
  token: string;
  estimateSeconds: number;
  tookSeconds: number;
}

export interface ToolEstimates {
  tool: string;
  /** Medians over the runs; missing without runs. */
  estimateSeconds?: number;
  tookSeconds?: number;
  /** Deviation of the estimates, as a fraction of the actual duration. */
  off?: number;
  /** Latest first. */
  runs: ComparedRun[];
}

/** Compares the latest runs of each tool. @throws ToolRefusal, Unreachable, RpcError */
export async function compareEstimates(session: Session, tools: string[]): Promise<ToolEstimates[]> {
  const runs = new Map<string, ComparedRun[]>(tools.map((tool) => [tool, []]));
  for await (const { token, tool, estimateSeconds, workedSeconds } of completed(session)) {
    const known = runs.get(tool);
    if (known && known.length < RUNS_EACH && estimateSeconds !== undefined && workedSeconds !== undefined)
      known.push({ token, estimateSeconds, tookSeconds: workedSeconds });
  }
  return [...runs].map(([tool, each]) => ({ tool, ...summary(each), runs: each }));
}

async function* completed(session: Session): AsyncGenerator<ListedOperation> {
  let page: OperationPage | undefined;
  for (let count = 0; count < LOOKED_AT; count += PAGE_LIMIT) {
    const cursor = page?.nextCursor;
    page = await listOperations(session, {
      status: 'completed',
      limit: PAGE_LIMIT,
      cursor,
    });
    yield* page.operations;
    if (page.nextCursor === undefined) return;
  }
}

function summary(runs: ComparedRun[]): Omit<ToolEstimates, 'tool' | 'runs'> {
  if (runs.length === 0) return {};
  return {
    estimateSeconds: median(runs.map(({ estimateSeconds }) => estimateSeconds)),
    tookSeconds: median(runs.map(({ tookSeconds }) => tookSeconds)),
    off: median(
      runs.map(({ estimateSeconds, tookSeconds }) => Math.abs(estimateSeconds - tookSeconds) / tookSeconds),
    ),
  };
}

export function estimatesTable(tools: ToolEstimates[]): string {
  const seconds = (value: number | undefined) => (value === undefined ? '-' : `${value.toPrecision(3)}s`);
  const rows = tools.map(({ tool, runs, estimateSeconds, tookSeconds, off }) => [
    tool,
    String(runs.length),
    seconds(estimateSeconds),
    seconds(tookSeconds),
    off === undefined ? '-' : `${Math.round(off * 100)}%`,
  ]);
  return textTable([['TOOL', 'RUNS', 'ESTIMATE', 'TOOK', 'OFF'], ...rows]);
}

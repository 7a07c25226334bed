import { Option, type Command } from 'commander';
import { median } from '../../../operations/estimate.js';
import { OPERATION_TOOL_PREFIX } from '../../../operations/tool/index.js';
import { addClientFlags, isJson, printOutput, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { getJobsApi } from '../../client/jobs-api.js';
import { listOperations } from '../../client/operation-tools.js';
import type { Session } from '../../client/session.js';
import type { ListedOperation } from '../../client/wire.js';
import { print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { oneLine, textTable } from '../../terminal/table.js';

const NONE = 'The server has no tools.';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('[tool]', 'print its whole documentation')
    .option('--estimates', 'compare the duration of your latest runs with their estimates')
    .addOption(
      new Option('--format <api>', 'print the tools as definitions for a model API, as JSON')
        .choices(['openai', 'anthropic'])
        .conflicts('estimates'),
    );
  runAgainstServer(command, async (session, tool?: string) => {
    const { estimates, format } = command.opts<{ estimates?: true; format?: string }>();
    if (tool !== undefined && (estimates || format !== undefined))
      throw usageFailure('--estimates and --format are for all tools: leave the name out');
    if (format !== undefined) printJson(await definitions(session, format));
    else if (tool !== undefined) await document(session, command, tool);
    else if (estimates) await compare(session, command);
    else await list(session, command);
  });
}

async function list(session: Session, command: Command): Promise<void> {
  const { tools, problems } = await session.listTools();
  if (isJson(command)) return printJson({ tools, ...(problems.length > 0 ? { problems } : {}) });
  const rows = tools.map(({ name, title, description }) => [
    name,
    oneLine((description ?? title ?? '').split('\n')[0]!),
  ]);
  print(rows.length ? textTable(rows) : NONE);
  for (const problem of problems) say(`problem: ${problem}`);
}

async function definitions({ url }: Session, format: string): Promise<unknown> {
  return (await getJobsApi(url, `v1/tools?format=${format}`, 'application/json')).json();
}

async function document({ url }: Session, command: Command, tool: string): Promise<void> {
  const path = `v1/tools/${encodeURIComponent(tool)}`;
  const type = isJson(command) ? 'application/json' : 'text/markdown';
  const response = await getJobsApi(url, path, type).catch((error: unknown) => {
    const isUnknown = error instanceof CommandFailure && error.exitCode === EXIT.notFound;
    throw isUnknown ? usageFailure(error.message) : error;
  });
  if (isJson(command)) printJson(await response.json());
  else print((await response.text()).trimEnd());
}

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

interface ToolEstimates extends Medians {
  tool: string;
  runs: ComparedRun[];
}

/** Medians over the runs; missing without runs. */
interface Medians {
  estimateSeconds?: number;
  tookSeconds?: number;
  /** Deviation of the estimates, as a fraction of the actual duration. */
  off?: number;
}

/** Compares the latest runs of each tool with their estimates. */
async function compare(session: Session, command: Command): Promise<void> {
  const tools = await session.tools();
  const names = tools.map(({ name }) => name).filter((name) => !name.startsWith(OPERATION_TOOL_PREFIX));
  const runs = new Map<string, ComparedRun[]>(names.map((tool) => [tool, []]));
  for await (const { token, tool, estimateSeconds, workedSeconds } of completed(session)) {
    const known = runs.get(tool);
    if (known && known.length < RUNS_EACH && estimateSeconds !== undefined && workedSeconds !== undefined)
      known.push({ token, estimateSeconds, tookSeconds: workedSeconds });
  }
  const estimates = [...runs].map(([tool, each]) => ({ tool, ...medians(each), runs: each }));
  printOutput(command, { estimates }, () => (estimates.length ? tableOf(estimates) : NONE));
}

function tableOf(estimates: ToolEstimates[]): string {
  const seconds = (value: number | undefined) => (value === undefined ? '-' : `${value.toPrecision(3)}s`);
  const rows = estimates.map(({ tool, runs, estimateSeconds, tookSeconds, off }) => [
    ...[tool, String(runs.length), seconds(estimateSeconds), seconds(tookSeconds)],
    off === undefined ? '-' : `${Math.round(off * 100)}%`,
  ]);
  return textTable([['TOOL', 'RUNS', 'ESTIMATE', 'TOOK', 'OFF'], ...rows]);
}

async function* completed(session: Session): AsyncGenerator<ListedOperation> {
  let cursor: string | undefined;
  for (let count = 0; count < LOOKED_AT; count += PAGE_LIMIT) {
    const filter = { status: 'completed' as const, limit: PAGE_LIMIT, cursor };
    const { operations, nextCursor } = await listOperations(session, filter);
    yield* operations;
    if (nextCursor === undefined) return;
    cursor = nextCursor;
  }
}

function medians(runs: ComparedRun[]): Medians {
  if (runs.length === 0) return {};
  const offs = runs.map((run) => Math.abs(run.estimateSeconds - run.tookSeconds) / run.tookSeconds);
  return {
    estimateSeconds: median(runs.map(({ estimateSeconds }) => estimateSeconds)),
    tookSeconds: median(runs.map(({ tookSeconds }) => tookSeconds)),
    off: median(offs),
  };
}

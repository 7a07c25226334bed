import { Option, type Command } from 'commander';
import type { OperationStatus } from '../../../operations/record.js';
import {
  addClientFlags,
  isJson,
  printOutput,
  runAgainstServer,
  since,
  wholeNumber,
} from '../../client/command.js';
import { listOperations } from '../../client/operation-tools.js';
import { connectionReporter } from '../../client/reconnect-policy.js';
import type { Session } from '../../client/session.js';
import type { ListedOperation } from '../../client/wire.js';
import { say } from '../../console.js';
import { operationChanges } from '../../follow/operation-changes.js';
import { operationsTable } from '../../terminal/describe.js';
import { elapsed } from '../../terminal/status-line.js';
import { oneLine } from '../../terminal/table.js';

/** Statuses that lists can filter by. Operations that have just started are `working`. */
const STATUSES: OperationStatus[] = [
  'working',
  'input_required',
  'completed',
  'failed',
  'canceled',
  'timed_out',
];
/** The server's maximum page size. */
const PAGE_LIMIT = 100;

interface ListFlags {
  tool?: string;
  everyone?: boolean;
  status?: OperationStatus;
  since?: string | number;
  limit: number;
  watch?: boolean;
  interval: number;
}

export function define(command: Command): void {
  addClientFlags(command)
    .option('--tool <name>', 'only those of this tool')
    .addOption(new Option('--status <status>', 'only those in this status').choices(STATUSES))
    .option(
      '--since <time>',
      'only those started since then: 2026-11-21, 2026-11-21T12:00:00Z, or an age such as 30m, 2h or 3d',
      since,
    )
    .option('--everyone', "also others' of your tenant, if a role allows it")
    .option('--limit <number>', 'maximum number to list', wholeNumber, 20)
    .addOption(
      new Option('--watch', 'print the open operations, then a line for each change, until Ctrl-C').conflicts(
        ['since', 'limit'],
      ),
    )
    .option('--interval <seconds>', 'seconds between two looks of --watch, from 5 on', wholeNumber, 5);
  runAgainstServer(command, async (session) => {
    const { tool, status, everyone, since: from, limit, watch } = command.opts<ListFlags>();
    if (watch) return watchList(session, command);
    const operations: ListedOperation[] = [];
    let cursor: string | undefined;
    do {
      const left = limit - operations.length;
      const page = { tool, status, everyone, since: from, cursor, limit: Math.min(PAGE_LIMIT, left) };
      const { operations: listed, nextCursor } = await listOperations(session, page);
      operations.push(...listed);
      cursor = nextCursor;
    } while (cursor !== undefined && operations.length < limit);
    if (tool !== undefined && operations.length === 0) {
      // A tool that is no longer served may have operations that the filter excludes.
      const { operations: any } = await listOperations(session, { tool, limit: 1 });
      if (any.length === 0) await session.tool(tool);
    }
    printOutput(command, { operations }, () =>
      operations.length ? operationsTable(operations) : 'No operations.',
    );
    if (cursor !== undefined && !isJson(command)) say(`There are more; --limit shows more than ${limit}.`);
  });
}

/** Prints a line for each change of an operation, for pipes, until Ctrl-C. */
async function watchList(session: Session, command: Command): Promise<void> {
  const { tool, status, everyone, interval } = command.opts<ListFlags>();
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
  const onConnectionChange = connectionReporter(say, 'the server is gone');
  const options = { signal, isKnown: false, onConnectionChange };
  const changes = operationChanges(session, { tool, everyone }, interval * 1_000, options);
  for await (const operation of changes) {
    if (status !== undefined && operation.status !== status) continue;
    printOutput(command, { at: new Date().toISOString(), ...operation }, () => changeLine(operation));
  }
}

/** `02:46:10 0f8b... release working: build / Compile (1m 05s)`. */
function changeLine({
  token,
  owner,
  tool,
  status,
  stage,
  createdAt,
  closedAt,
  problem,
}: ListedOperation): string {
  const time = new Date().toISOString().slice(11, 19);
  const took = elapsed((closedAt ? Date.parse(closedAt) : Date.now()) - Date.parse(createdAt));
  const said = [status, closedAt === undefined ? stage : undefined].filter(Boolean).join(': ');
  return oneLine([time, token, owner, tool, said, `(${took})`, problem].filter(Boolean).join(' '));
}

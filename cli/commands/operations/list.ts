import { Option, type Command } from 'commander';
import type { OperationStatus } from '../../../operations/record.js';
import { addClientFlags, isJson, runAgainstServer, wholeNumber } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import type { OperationPage } from '../../client/operation-tools.js';
import { since } from '../../follow/since.js';
import type { ListedOperation } from '../../client/wire.js';
import { print, printJson, say } from '../../console.js';

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
    const { tool, status, since, everyone, limit, watch, interval } = command.opts<{
      tool?: string;
      everyone?: boolean;
      status?: OperationStatus;
      since?: string | number;
      limit: number;
      watch?: boolean;
      interval: number;
    }>();
    if (watch) {
      const { watchList } = await import('../../follow/watch-list.js');
      const intervalMs = interval * 1_000;
      return watchList(session, {
        tool,
        status,
        everyone,
        intervalMs,
        json: isJson(command),
      });
    }
    const { listOperations } = await import('../../client/operation-tools.js');
    const operations: ListedOperation[] = [];
    let cursor: string | undefined;
    do {
      const page: OperationPage = await listOperations(session, {
        tool,
        status,
        since,
        everyone,
        cursor,
        limit: Math.min(PAGE_LIMIT, limit - operations.length),
      });
      operations.push(...page.operations);
      cursor = page.nextCursor;
    } while (cursor !== undefined && operations.length < limit);
    if (tool !== undefined && operations.length === 0) {
      // A tool that is no longer served may have operations that the filter excludes.
      const { operations: any } = await listOperations(session, { tool, limit: 1 });
      if (any.length === 0) await session.tool(tool);
    }
    if (isJson(command)) printJson({ operations });
    else {
      const { operationsTable } = await import('../../terminal/describe.js');
      print(operations.length ? operationsTable(operations) : 'No operations.');
      if (cursor !== undefined) say(`There are more; --limit shows more than ${limit}.`);
    }
    return EXIT.ok;
  });
}

import type { Client } from '@temporalio/client';
import { Option, type Command } from 'commander';
import type { Settings } from '../../../platform/settings/index.js';
import type { Selection } from '../../discover/plan.js';
import { isJson, wholeNumber } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { since } from '../../follow/since.js';
import { print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { withTemporal } from '../../with-temporal.js';

const DEFAULT_RUNS = 5;
const WEEK_SECONDS = 7 * 24 * 3600;

const HELP = `
Reads recent runs of a namespace, and drafts a tool for each workflow type: a file for tools/, with comments, that longhaul check
takes as it is. It shows first what it would read; nothing is written to Temporal. Runs of Longhaul itself are left out.

  longhaul discover                             what it would read; asks on a terminal
  longhaul discover --yes                       the drafts, on standard output
  longhaul discover --yes --output my-tools/tools
  longhaul discover --yes --query --type RefundWorkflow

Values in histories may be secret: a draft has names and types, and never a value. Names are those of fields, activities, signals,
updates and queries. Maps whose keys look like data have none; look for those that look like names.

Exit code: 0 with drafts, 2 for wrong usage and without --yes where nobody can be asked, 3 when Temporal can't be reached, refuses
the credentials or limits calls, 4 when there is no such namespace or no run.`;

interface DiscoverFlags {
  namespace?: string;
  since: number | string;
  type: string[];
  taskQueue?: string;
  runs: number;
  query?: boolean;
  output?: string;
  force?: boolean;
  yes?: boolean;
}

export function define(command: Command): void {
  command
    .option('--namespace <name>', 'namespace to read (default: the one that Longhaul is connected to)')
    .addOption(
      new Option('--since <time>', 'runs started since then: 2026-11-21, or an age such as 12h or 30d')
        .argParser(since)
        .default(WEEK_SECONDS, '7d'),
    )
    .addOption(
      new Option('--type <name>', 'only this workflow type; repeatable')
        .argParser((name, names: string[]) => [...names, name])
        .default([], 'all'),
    )
    .option('--task-queue <name>', 'only runs on this task queue')
    .option('--runs <number>', 'histories to read of each type', wholeNumber, DEFAULT_RUNS)
    .option(
      '--query',
      'ask one open run of each type for its queries, signals and updates; billed as a query',
    )
    .option('--output <folder>', 'write a file for each type there (default: print them)')
    .option('--force', 'overwrite files of tools over the same types')
    .option('--yes', 'read without asking')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action(() =>
    withTemporal(command, (client, settings) =>
      // Commander gives --task-queue, which is also a setting's flag, to the program.
      discover(client, settings, command.optsWithGlobals<DiscoverFlags>(), isJson(command)),
    ),
  );
}

async function discover(
  connected: Client,
  settings: Settings,
  flags: DiscoverFlags,
  json: boolean,
): Promise<void> {
  const [{ planOf }, { TemporalReads }, { findTypes }] = await Promise.all([
    import('../../discover/plan.js'),
    import('../../discover/temporal-reads.js'),
    import('../../discover/find-types.js'),
  ]);
  if (flags.force && flags.output === undefined)
    throw usageFailure('--force: expected --output, since nothing is written without it');
  const now = new Date();
  const selection: Selection = {
    since: timeOf(flags.since, now),
    types: [...new Set(flags.type)],
    taskQueue: flags.taskQueue,
    runs: flags.runs,
    asksWorkers: flags.query === true,
  };
  const client = await inNamespace(connected, flags.namespace);
  const { namespace } = client.options;
  if (!(await confirmed(planOf(namespace, addressOf(client), selection), flags))) return;
  const found = await findTypes(new TemporalReads(client), selection, say);
  if (found.types.length === 0) throw nothingFound(namespace, selection, found.longhauls);
  const { draftAll } = await import('../../discover/draft-all.js');
  const drafts = draftAll(found.types, settings, flags, {
    ...{ namespace, since: selection.since, now, isLimited: found.isLimited },
    ...(namespace === connected.options.namespace ? {} : { otherNamespace: namespace }),
  });
  if (json)
    printJson({
      ...{ namespace, since: selection.since, runs: found.runs, isLimited: found.isLimited },
      ...{ leftOut: found.leftOut, drafts },
    });
  else if (flags.output === undefined)
    for (const { file, yaml } of drafts) print(`---\n# File: ${file}\n${yaml.trimEnd()}`);
  else
    for (const { file, tool, type, isWritten } of drafts)
      print(
        isWritten
          ? `${file}: tool ${tool}, over ${type}`
          : `${file}: kept, since it is there already; --force overwrites it with the draft for ${type}`,
      );
  if (found.isLimited) say('There are more runs; --since, --type and --task-queue choose others.');
  if (found.leftOut.length > 0) say(`No draft for ${found.leftOut.join(', ')}; --type chooses them.`);
}

/** Shows what would be read, and asks whether to read it. @throws CommandFailure without a terminal, unless `yes` is set */
async function confirmed(plan: string[], { yes }: DiscoverFlags): Promise<boolean> {
  for (const line of plan) say(line);
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageFailure('expected --yes, since there is no terminal to ask on; nothing was read');
  const { confirm } = await import('../../questions/prompts.js');
  if ((await confirm({ message: 'Continue?', initialValue: false })) === true) return true;
  say('Nothing was read.');
  return false;
}

/** ISO 8601. */
function timeOf(given: number | string, now: Date): string {
  const time = typeof given === 'number' ? new Date(now.getTime() - given * 1_000) : new Date(given);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw usageFailure(`--since: expected a time such as 2026-11-21T12:00:00Z; got ${given}`);
}

async function inNamespace(connected: Client, namespace: string | undefined): Promise<Client> {
  if (namespace === undefined || namespace === connected.options.namespace) return connected;
  const { Client: NamespaceClient } = await import('@temporalio/client');
  return new NamespaceClient({ connection: connected.connection, namespace });
}

function addressOf({ connection }: Client): string {
  return (connection as { options?: { address?: string } }).options?.address ?? 'its address';
}

function nothingFound(namespace: string, { since, types, taskQueue }: Selection, longhauls: number) {
  const filters = [
    `since ${since}`,
    ...(types.length > 0 ? [`of ${types.join(', ')}`] : []),
    ...(taskQueue === undefined ? [] : [`on the task queue ${taskQueue}`]),
  ].join(', ');
  const own = longhauls > 0 ? `; ${longhauls} of Longhaul itself were left out` : '';
  return new CommandFailure(
    `the namespace "${namespace}" has no run ${filters}${own}; --since takes an earlier time`,
    EXIT.notFound,
  );
}

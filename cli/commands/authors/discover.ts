import { Client } from '@temporalio/client';
import { Option, type Command } from 'commander';
import type { Settings } from '../../../platform/settings/index.js';
import { addJsonFlag, collect, isJson, since, timeOfSince, wholeNumber } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson, say } from '../../console.js';
import { draftAll, type Draft } from '../../discover/draft-all.js';
import { findTypes } from '../../discover/find-types.js';
import { filtersOf, planOf, TemporalReads, type Selection } from '../../discover/temporal-reads.js';
import { CommandFailure } from '../../failure.js';
import { confirm } from '../../questions/prompts.js';
import { runOnTemporal } from '../../with-temporal.js';

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
  type?: string[];
  taskQueue?: string;
  runs: number;
  query?: boolean;
  output?: string;
  force?: boolean;
  yes?: boolean;
}

export function define(command: Command): void {
  addJsonFlag(command)
    .option('--namespace <name>', 'namespace to read (default: the one that Longhaul is connected to)')
    .addOption(
      new Option('--since <time>', 'runs started since then: 2026-11-21, or an age such as 12h or 30d')
        .argParser(since)
        .default(WEEK_SECONDS, '7d'),
    )
    .option('--type <name>', 'only this workflow type; repeatable (default: all)', collect)
    .option('--task-queue <name>', 'only runs on this task queue')
    .option('--runs <number>', 'histories to read of each type', wholeNumber, DEFAULT_RUNS)
    .option(
      '--query',
      'ask one open run of each type for its queries, signals and updates; billed as a query',
    )
    .option('--output <folder>', 'write a file for each type there (default: print them)')
    .option('--force', 'overwrite files of tools over the same types')
    .option('--yes', 'read without asking')
    .addHelpText('after', HELP);
  runOnTemporal(command, (client, settings) =>
    // Commander gives --task-queue, which is also a setting's flag, to the program.
    discover(client, settings, command.optsWithGlobals<DiscoverFlags>(), isJson(command)),
  );
}

async function discover(
  connected: Client,
  settings: Settings,
  flags: DiscoverFlags,
  json: boolean,
): Promise<void> {
  if (flags.force && flags.output === undefined)
    throw usageFailure('--force: expected --output, since nothing is written without it');
  const now = new Date();
  const selection: Selection = {
    since: timeOfSince(flags.since, now),
    types: [...new Set(flags.type)],
    taskQueue: flags.taskQueue,
    runs: flags.runs,
    asksWorkers: flags.query === true,
  };
  const { connection } = connected;
  const { namespace = connected.options.namespace } = flags;
  const isOther = namespace !== connected.options.namespace;
  const client = isOther ? new Client({ connection, namespace }) : connected;
  if (!(await confirmed(planOf(namespace, addressOf(client), selection), flags))) return;
  const { types, runs, longhauls, isLimited, leftOut } = await findTypes(
    new TemporalReads(client),
    selection,
    say,
  );
  if (types.length === 0) throw nothingFound(namespace, selection, longhauls);
  const otherNamespace = isOther ? namespace : undefined;
  const source = { namespace, otherNamespace, since: selection.since, now, isLimited };
  const drafts = draftAll(types, settings, flags, source);
  if (json) printJson({ namespace, since: selection.since, runs, isLimited, leftOut, drafts });
  else for (const draft of drafts) print(flags.output === undefined ? textOf(draft) : outcomeOf(draft));
  if (isLimited) say('There are more runs; --since, --type and --task-queue choose others.');
  if (leftOut.length > 0) say(`No draft for ${leftOut.join(', ')}; --type chooses them.`);
}

function textOf({ file, yaml }: Draft): string {
  return `---\n# File: ${file}\n${yaml.trimEnd()}`;
}

function outcomeOf({ file, tool, type, isWritten }: Draft): string {
  return isWritten
    ? `${file}: tool ${tool}, over ${type}`
    : `${file}: kept, since it is there already; --force overwrites it with the draft for ${type}`;
}

/** Shows what would be read, and asks whether to read it. @throws CommandFailure without a terminal, unless `yes` is set */
async function confirmed(plan: string[], { yes }: DiscoverFlags): Promise<boolean> {
  for (const line of plan) say(line);
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageFailure('expected --yes, since there is no terminal to ask on; nothing was read');
  if ((await confirm({ message: 'Continue?', initialValue: false })) === true) return true;
  say('Nothing was read.');
  return false;
}

function addressOf({ connection }: Client): string {
  return (connection as { options?: { address?: string } }).options?.address ?? 'its address';
}

function nothingFound(namespace: string, selection: Selection, longhauls: number): CommandFailure {
  const own = longhauls > 0 ? `; ${longhauls} of Longhaul itself were left out` : '';
  return new CommandFailure(
    `the namespace "${namespace}" has no run ${filtersOf(selection)}${own}; --since takes an earlier time`,
    EXIT.notFound,
  );
}

import { Option, type Command } from 'commander';
import { signStart, type SignedStart } from '../../../engine/start/sign.js';
import { OVERLAP_POLICIES, type ScheduleTimes } from '../../../operations/tool/schedule-times.js';
import { openHome } from '../../../platform/home/index.js';
import { shellWord } from '../../../platform/home/program.js';
import { loadSecret } from '../../../platform/home/secret.js';
import { createLogger } from '../../../platform/observe/log.js';
import type { Settings } from '../../../platform/settings/index.js';
import { temporalFlags } from '../../../platform/temporal/connect-config.js';
import { addJsonFlag, collect, isJson, runReporting } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { addPrincipalFlags, principalOfFlags, type PrincipalFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { loadTools } from '../../load-tools.js';
import { settingsOf } from '../../settings-flags.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { readArguments } from '../../tools/call.js';

const HELP = `
Workers refuse to work for workflows that no server of Longhaul has started. This command signs a start with the secret of
the home, without connecting to anything, and prints the command of Temporal's own command line that makes it. A start is
signed for one workflow ID and its input; with --schedule, for the workflows that a schedule with this ID starts at the given
times, from now on.

  longhaul sign nightly_report --args report.json --schedule nightly --cron '0 3 * * *' --time-zone Europe/Berlin
`;

interface SignFlags extends PrincipalFlags {
  args?: string;
  schedule?: string;
  cron?: string[];
  interval?: string[];
  timeZone?: string;
  overlapPolicy?: ScheduleTimes['overlap'];
  token?: string;
}

export function define(command: Command): void {
  command
    .argument('<tool>')
    .option('--args <file>', 'arguments as a JSON object in a file, - for standard input (default: {})')
    .option('--token <token>', "the operation's token (default: a new one)")
    .option('--schedule <id>', 'ID of the schedule that starts it')
    .option(
      '--cron <expression>',
      'times of the schedule, as Temporal reads them; repeated for several',
      collect,
    )
    .option(
      '--interval <time>',
      'instead, or too: the interval, and its phase after a slash, such as 1h/15m',
      collect,
    )
    .option('--time-zone <name>', 'time zone of the cron expressions (default: UTC)')
    .addOption(
      new Option(
        '--overlap-policy <name>',
        'what the schedule does while a run is open (default: Skip)',
      ).choices(OVERLAP_POLICIES),
    );
  addPrincipalFlags(command, 'whose operation it will be');
  addJsonFlag(command).addHelpText('after', HELP);
  runReporting(command, async (name: string) => {
    const flags = command.opts<SignFlags>();
    if (flags.schedule !== undefined && flags.token !== undefined)
      throw usageFailure(
        '--schedule and --token: expected one of them; the ID of a schedule is in its tokens',
      );
    const times = timesOf(flags);
    const settings = await settingsOf(command);
    const start = await sign(settings, name, flags, times);
    if (isJson(command)) printJson({ ...start, taskQueue: settings.taskQueue });
    else {
      const place = { ...temporalFlags(settings.home), 'task-queue': settings.taskQueue };
      print(commandLine(start, place, times && { ...times, id: flags.schedule! }));
    }
    // Watching the files of tools keeps the process alive.
    exitOnceWritten();
  });
}

/** Times of the schedule; undefined without one. */
function timesOf(flags: SignFlags): ScheduleTimes | undefined {
  const { schedule, cron, interval, timeZone, overlapPolicy } = flags;
  if (schedule !== undefined)
    return {
      cron: cron ?? [],
      intervals: interval ?? [],
      ...(timeZone === undefined ? {} : { timeZone }),
      overlap: overlapPolicy ?? 'Skip',
      from: new Date().toISOString(),
    };
  if ([cron, interval, timeZone, overlapPolicy].some((each) => each !== undefined))
    throw usageFailure('--cron, --interval, --time-zone and --overlap-policy belong to --schedule');
  return undefined;
}

async function sign(
  settings: Settings,
  name: string,
  flags: SignFlags,
  times: ScheduleTimes | undefined,
): Promise<SignedStart> {
  openHome(settings.home, say);
  const tools = await loadTools(settings, createLogger('sign', 'silent'));
  const tool = tools.get(name);
  if (!tool)
    throw new CommandFailure(
      tools.problemOf(name) ??
        `unknown tool ${JSON.stringify(name)}; known are ${tools.keys().join(', ') || 'none'}`,
    );
  return signStart(
    tool,
    flags.args === undefined ? {} : readArguments(flags.args),
    {
      principal: principalOfFlags(flags),
      token: flags.schedule ?? flags.token,
      times,
      searchAttributes: settings.searchAttributes !== 'off',
    },
    loadSecret(settings.home),
  );
}

/** A shell command for Temporal's command line. */
function commandLine(
  start: SignedStart,
  place: Record<string, string>,
  schedule: (ScheduleTimes & { id: string }) | undefined,
): string {
  const entry = ([name, value]: [string, unknown]) => `${name}=${jsonText(value)}`;
  const flags: Record<string, string | string[] | undefined> = {
    ...place,
    ...(schedule && {
      'schedule-id': schedule.id,
      cron: schedule.cron,
      interval: schedule.intervals,
      'time-zone': schedule.timeZone,
      'overlap-policy': schedule.overlap,
    }),
    'workflow-id': start.workflowId,
    type: start.workflowType,
    'execution-timeout': `${start.executionTimeoutSeconds}s`,
    'task-timeout': `${start.taskTimeoutSeconds}s`,
    'static-summary': start.summary,
    'search-attribute': Object.entries(start.searchAttributes).map(entry),
    memo: Object.entries(start.memo).map(entry),
    input: jsonText(start.input),
  };
  const lines = Object.entries(flags).flatMap(([name, values = []]) =>
    [values].flat().map((value) => `  --${name} ${shellWord(value)}`),
  );
  const begin = schedule
    ? ['temporal schedule create']
    : ['temporal workflow start', '  --id-reuse-policy RejectDuplicate', '  --id-conflict-policy Fail'];
  return [...begin, ...lines].join(' \\\n');
}

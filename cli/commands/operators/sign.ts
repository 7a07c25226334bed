import { Option, type Command } from 'commander';
import type { SignedStart } from '../../../engine/start/sign.js';
import { OVERLAP_POLICIES, type ScheduleTimes } from '../../../operations/tool/schedule-times.js';
import type { Settings } from '../../../platform/settings/index.js';
import { shellWord } from '../../../platform/home/program.js';
import { isJson, withErrorReporting } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { principalOfFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../../console.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
Workers refuse to work for workflows that no server of Longhaul has started. This command signs a start with the secret of
the home, without connecting to anything, and prints the command of Temporal's own command line that makes it. A start is
signed for one workflow ID and its input; with --schedule, for the workflows that a schedule with this ID starts at the given
times, from now on.

  longhaul sign nightly_report --args report.json --schedule nightly --cron '0 3 * * *' --time-zone Europe/Berlin
`;

interface SignFlags {
  args?: string;
  schedule?: string;
  cron?: string[];
  interval?: string[];
  timeZone?: string;
  overlapPolicy?: ScheduleTimes['overlap'];
  token?: string;
  tenant?: string;
  subject?: string;
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
      append,
    )
    .option(
      '--interval <time>',
      'instead, or too: the interval, and its phase after a slash, such as 1h/15m',
      append,
    )
    .option('--time-zone <name>', 'time zone of the cron expressions (default: UTC)')
    .addOption(
      new Option(
        '--overlap-policy <name>',
        'what the schedule does while a run is open (default: Skip)',
      ).choices(OVERLAP_POLICIES),
    )
    .option('--tenant <name>', 'tenant of the caller whose operation it will be (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action((name: string) =>
    withErrorReporting(command, async () => {
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
        const { temporalFlags } = await import('../../../platform/temporal/connect-config.js');
        const place = { ...temporalFlags(settings.home), 'task-queue': settings.taskQueue };
        print(commandLine(start, place, times && { ...times, id: flags.schedule! }));
      }
      // Watching the files of tools keeps the process alive.
      exitOnceWritten();
    }),
  );
}

function append(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Times of the schedule; undefined without one. */
function timesOf({
  schedule,
  cron,
  interval,
  timeZone,
  overlapPolicy,
}: SignFlags): ScheduleTimes | undefined {
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
  const [{ signStart }, { loadTools }, { loadSecret }, { openHome }, { readArguments }] = await Promise.all([
    import('../../../engine/start/sign.js'),
    import('../../load-tools.js'),
    import('../../../platform/home/secret.js'),
    import('../../../platform/home/index.js'),
    import('../../tools/call.js'),
  ]);
  openHome(settings.home, say);
  const silent = () => undefined;
  const tools = await loadTools(settings, { error: silent, warn: silent, info: silent });
  const tool = tools.get(name);
  if (!tool)
    throw new CommandFailure(
      tools.problemOf(name) ??
        `unknown tool ${JSON.stringify(name)}; known are ${tools.keys().join(', ') || 'none'}`,
    );
  const token = flags.schedule ?? flags.token;
  return signStart(
    tool,
    flags.args === undefined ? {} : readArguments(flags.args),
    {
      principal: await principalOfFlags(flags),
      ...(token === undefined ? {} : { token }),
      ...(times === undefined ? {} : { times }),
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
  const flags: [string, string][] = [
    ...Object.entries(place),
    ...(schedule === undefined ? [] : scheduleFlags(schedule)),
    ['workflow-id', start.workflowId],
    ['type', start.workflowType],
    ['execution-timeout', `${start.executionTimeoutSeconds}s`],
    ['task-timeout', `${start.taskTimeoutSeconds}s`],
    ['static-summary', start.summary],
    ...Object.entries(start.searchAttributes).map((one): [string, string] => [
      'search-attribute',
      entry(one),
    ]),
    ...Object.entries(start.memo).map((one): [string, string] => ['memo', entry(one)]),
    ['input', jsonText(start.input)],
  ];
  const lines = flags.map(([name, value]) => `  --${name} ${shellWord(value)}`);
  return [
    `temporal ${schedule === undefined ? 'workflow start' : 'schedule create'}`,
    ...(schedule === undefined ? ['  --id-reuse-policy RejectDuplicate', '  --id-conflict-policy Fail'] : []),
    ...lines,
  ].join(' \\\n');
}

function scheduleFlags({
  id,
  cron,
  intervals,
  timeZone,
  overlap,
}: ScheduleTimes & { id: string }): [string, string][] {
  return [
    ['schedule-id', id],
    ...cron.map((each): [string, string] => ['cron', each]),
    ...intervals.map((each): [string, string] => ['interval', each]),
    ...(timeZone === undefined ? [] : [['time-zone', timeZone] as [string, string]]),
    ['overlap-policy', overlap],
  ];
}

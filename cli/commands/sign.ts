import type { Command } from 'commander';
import type { SignedStart } from '../../engine/sign.js';
import type { Settings } from '../../platform/config.js';
import { shellWord } from '../../platform/program.js';
import { isJson, withErrorReporting } from '../client/command.js';
import { usageFailure } from '../client/failures.js';
import { principalOfFlags } from '../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../console.js';
import { jsonText } from '../client/terminal-text.js';
import { CommandFailure } from '../failure.js';
import { settingsOf } from '../settings-flags.js';

const HELP = `
Workers refuse to work for workflows that no server of Longhaul has started. This command signs a start with the secret of
the home, without connecting to anything, and prints the command of Temporal's own command line that makes it. A start is
signed for one workflow ID and its input; with --schedule, for all workflows that a schedule with this ID starts.

  longhaul sign nightly_report --args report.json --schedule nightly

adds to what it prints when the schedule runs: --cron '0 3 * * *', --interval 1d or --calendar '{...}'.
`;

interface SignFlags {
  args?: string;
  schedule?: string;
  token?: string;
  tenant?: string;
  subject?: string;
}

/** `longhaul sign TOOL`. */
export function define(command: Command): void {
  command
    .argument('<tool>')
    .option('--args <file>', 'arguments as a JSON object in a file, - for standard input (default: {})')
    .option('--token <token>', "the operation's token (default: a new one)")
    .option('--schedule <id>', 'ID of the schedule that starts it')
    .option('--tenant <name>', 'tenant of the caller whose operation it will be (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action((name: string) =>
    withErrorReporting(
      command,
      () => undefined,
      async () => {
        const flags = command.opts<SignFlags>();
        if (flags.schedule !== undefined && flags.token !== undefined)
          throw usageFailure(
            '--schedule and --token: expected one of them; the ID of a schedule is in its tokens',
          );
        const settings = await settingsOf(command);
        const start = await sign(settings, name, flags);
        if (isJson(command)) printJson({ ...start, taskQueue: settings.taskQueue });
        else print(commandLine(start, settings.taskQueue, flags.schedule));
        // Files of tools are watched.
        exitOnceWritten();
      },
    ),
  );
}

async function sign(settings: Settings, name: string, flags: SignFlags): Promise<SignedStart> {
  const [{ signStart }, { createTools }, { loadSecret }, { openHome }, { readArguments }] = await Promise.all(
    [
      import('../../engine/sign.js'),
      import('../../platform/tools.js'),
      import('../../platform/secret.js'),
      import('../../platform/home.js'),
      import('../client/call.js'),
    ],
  );
  openHome(settings.home, say);
  const silent = () => undefined;
  const tools = await createTools(settings, { error: silent, warn: silent, info: silent });
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
      isScheduled: flags.schedule !== undefined,
      searchAttributes: settings.searchAttributes !== 'off',
    },
    loadSecret(settings.home),
  );
}

/** The command of Temporal's command line, for a shell. */
function commandLine(start: SignedStart, taskQueue: string, schedule: string | undefined): string {
  const entry = ([name, value]: [string, unknown]) => `${name}=${jsonText(value)}`;
  const flags: [string, string][] = [
    ...(schedule === undefined ? [] : [['schedule-id', schedule] as [string, string]]),
    ['workflow-id', start.workflowId],
    ['type', start.workflowType],
    ['task-queue', taskQueue],
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

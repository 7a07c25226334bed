/** The command `longhaul`. Loads the called command's module alone. */
import { Command } from 'commander';
import { MOUNTED_COMMANDS } from '../mounts.js';
import { longhaulPackage } from '../platform/home/package.js';
import { findCalled, separateOperands } from './client/argv.js';
import { EXIT_CODES_HELP } from './client/exit-codes.js';
import { COMMANDS } from './command-table.js';
import { exitWhenOutputCloses, write } from './console.js';
import { reportFailure } from './failure.js';
import { addCommands, defineCommand } from './lazy-commands.js';
import { addSettingsFlags, settingsHelp } from './settings-flags.js';

/** Topics of `longhaul help` besides commands. */
const TOPICS: Record<string, () => string> = {
  settings: settingsHelp,
  'exit-codes': () => EXIT_CODES_HELP,
};

/** Commands that keep running when nobody reads their output. */
const LONG_RUNNING = ['up', 'stdio', 'server', 'worker', 'temporal'];

const program = new Command('longhaul')
  .description('Temporal workflows as MCP tools that any client can start, watch, answer, cancel and collect')
  .version(longhaulPackage().version)
  .configureOutput({
    writeOut: (text) => write('stdout', text),
    writeErr: (text) => write('stderr', text),
  })
  .exitOverride()
  .addHelpText(
    'after',
    `\nMore: longhaul help ${Object.keys(TOPICS).join(', longhaul help ')}, longhaul COMMAND --help`,
  )
  .showHelpAfterError('(longhaul --help lists the commands)');
program.hook('preAction', (_program, command) => {
  if (!LONG_RUNNING.includes(command.name())) exitWhenOutputCloses();
});
addSettingsFlags(program);
addCommands(program, [...COMMANDS, ...MOUNTED_COMMANDS]);

async function run(): Promise<void> {
  const called = findCalled(process.argv.slice(2), program);
  if (called) await defineCommand(called);
  await program.parseAsync(separateOperands(process.argv, program, called));
}

const [help, topic = ''] = process.argv.slice(2);
try {
  if (help === 'help' && Object.hasOwn(TOPICS, topic)) write('stdout', TOPICS[topic]!());
  else await run();
} catch (error) {
  process.exit(reportFailure(error));
}

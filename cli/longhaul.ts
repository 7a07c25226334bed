/**
 * The command `longhaul`. Each subcommand has its own file, registers itself with the program, and loads its dependencies only
 * when it is run, so that the fast ones stay fast.
 */
import { Command } from 'commander';
import { longhaulPackage } from '../platform/package.js';
import { separateOperands } from './client/argv.js';
import { EXIT_CODES_HELP } from './client/exit-codes.js';
import { registerAgents } from '../mailbox/cli/agents.js';
import { registerAdopt } from './commands/adopt.js';
import { registerAnswer } from './commands/answer.js';
import { registerAudit } from './commands/audit.js';
import { registerBackup, registerRestore } from './commands/backup.js';
import { registerBye } from '../mailbox/cli/bye.js';
import { registerCall } from './commands/call.js';
import { registerCancel } from './commands/cancel.js';
import { registerCheck } from './commands/check.js';
import { registerCompletion } from './commands/completion.js';
import { registerDeadLetters } from '../mailbox/cli/dead-letters.js';
import { registerConformance } from './commands/conformance.js';
import { registerDelete } from './commands/delete.js';
import { registerDeploy } from './commands/deploy.js';
import { registerDiscover } from './commands/discover.js';
import { registerDoctor } from './commands/doctor.js';
import { registerDown } from './commands/down.js';
import { registerGc } from './commands/gc.js';
import { registerGet } from './commands/get.js';
import { registerHistory } from './commands/history.js';
import { registerHosts } from './commands/hosts.js';
import { registerInbox } from '../mailbox/cli/inbox.js';
import { registerKeys } from './commands/keys.js';
import { registerLint } from './commands/lint.js';
import { registerList } from './commands/list.js';
import { registerLogs } from './commands/logs.js';
import { registerPolicy } from './commands/policy.js';
import { registerReplay } from './commands/replay.js';
import { registerResult } from './commands/result.js';
import { registerResume } from './commands/resume.js';
import { registerSend } from '../mailbox/cli/send.js';
import { registerSign, registerSignAnswer } from './commands/sign.js';
import { registerServer } from './commands/server.js';
import { registerStatus } from './commands/status.js';
import { registerStorage } from './commands/storage.js';
import { registerStdio } from './commands/stdio.js';
import { registerTemporal } from './commands/temporal.js';
import { registerTools } from './commands/tools.js';
import { registerTop } from './commands/top.js';
import { registerUp } from './commands/up.js';
import { registerWatch } from './commands/watch.js';
import { registerWorker } from './commands/worker.js';
import { exitWhenOutputCloses } from './console.js';
import { reportFailure } from './failure.js';
import { addSettingsFlags } from './settings-flags.js';

const COMMANDS = [
  ...[registerUp, registerDown, registerStdio, registerServer, registerWorker, registerTemporal],
  ...[registerCheck, registerLint, registerConformance],
  ...[registerTools, registerCall, registerWatch, registerStatus, registerResult, registerGet],
  ...[registerLogs, registerAnswer, registerCancel, registerResume, registerDelete],
  ...[
    registerList,
    registerTop,
    registerDoctor,
    registerDeploy,
    registerHosts,
    registerKeys,
    registerPolicy,
    registerAudit,
    registerGc,
    registerBackup,
    registerRestore,
    registerAdopt,
    registerDiscover,
    registerHistory,
    registerReplay,
    registerStorage,
    registerSign,
    registerSignAnswer,
    registerCompletion,
  ],
  ...[registerAgents, registerSend, registerInbox, registerDeadLetters, registerBye],
];

/** Commands that keep running when nobody reads their output. */
const LONG_RUNNING = ['up', 'stdio', 'server', 'worker', 'temporal'];

// A reader that has gone away (a closed terminal) doesn't end those; see exitWhenOutputCloses for the others.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const program = new Command('longhaul')
  .description('Temporal workflows as MCP tools that any client can start, watch, answer, cancel and collect')
  .version(longhaulPackage().version)
  .exitOverride()
  .addHelpText('after', EXIT_CODES_HELP)
  .showHelpAfterError('(longhaul --help lists the commands)');
program.hook('preAction', (_program, command) => {
  if (!LONG_RUNNING.includes(command.name())) exitWhenOutputCloses();
});
addSettingsFlags(program);
for (const register of COMMANDS) register(program);

try {
  await program.parseAsync(separateOperands(process.argv, program));
} catch (error) {
  process.exit(reportFailure(error));
}

import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { programCommand } from '../../../platform/home/program.js';
import {
  addClientFlags,
  isJson,
  printOutput,
  runAgainstServer,
  untilInterrupted,
} from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { exitCodeOfKind, usageFailure } from '../../client/failures.js';
import type { Session } from '../../client/session.js';
import {
  asTask,
  errorKindOf,
  withPlainText,
  type ToolDeclaration,
  type ToolResult,
} from '../../client/wire.js';
import { printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { printResult } from '../../follow/outcome.js';
import { waitFor } from '../../follow/follow.js';
import { settingsOf } from '../../settings-flags.js';
import { callTool, readArguments } from '../../tools/call.js';
import { extractBuiltinFlags, parseToolFlags } from '../../tools/tool-flags.js';
import { toolHelp } from '../../tools/tool-help.js';

const HELP = `
Arguments are flags made from the tool's own schema; longhaul call TOOL --help lists them.
Ctrl-C detaches: the work continues, and longhaul watch TOKEN reattaches.
`;

interface CallFlags {
  args?: string;
  detach?: boolean;
  up?: boolean;
  help?: boolean;
}

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<tool>')
    .argument('[flags...]', "the tool's arguments")
    .option('--args <file>', 'arguments as a JSON object in a file, - for standard input; flags win over it')
    .option('--detach', 'print the token at once, without waiting')
    .option('--up', 'start the stack first if none runs; it keeps running until longhaul down')
    .addHelpText('after', HELP);
  const run = async (session: Session, name: string, words: string[]) => {
    const tool = await session.tool(name);
    if (command.opts<CallFlags>().help) return printOutput(command, tool, () => toolHelp(tool));
    return call(session, command, tool, words);
  };
  runAgainstServer(command, run, async () => {
    applyBuiltinFlags(command);
    if (command.opts<CallFlags>().up) await startStack(command);
  });
}

/** Ensures that the home's stack runs. @throws StackError when it doesn't start */
async function startStack(command: Command): Promise<void> {
  if (command.opts<{ url?: string }>().url)
    throw usageFailure('--up: starts the stack of a home, so it has no --url (nor LONGHAUL_URL) beside it');
  const settings = await settingsOf(command);
  // Only --up needs the stack's code.
  const { attachToStack } = await import('../../../stack/attach.js');
  openHome(settings.home, say);
  await attachToStack(settings, say);
}

/** Applies Longhaul's own flags after the tool's name, where commander doesn't parse flags. */
function applyBuiltinFlags(command: Command): void {
  const { own, words } = extractBuiltinFlags(command.processedArgs[1] as string[]);
  const program = command.parent!;
  for (const [name, value] of Object.entries(own)) {
    const isSetting = program.options.some((option) => option.attributeName() === name);
    (isSetting ? program : command).setOptionValueWithSource(name, value, 'cli');
  }
  command.processedArgs[1] = words;
}

async function call(
  session: Session,
  command: Command,
  tool: ToolDeclaration,
  words: string[],
): Promise<number | void> {
  const flags = command.opts<CallFlags>();
  const args = {
    ...(flags.args === undefined ? {} : readArguments(flags.args)),
    ...parseToolFlags(words, tool.name, tool.inputSchema),
  };
  const detached = new CommandFailure(
    `${tool.name}: detached before the server answered; see ${programCommand()} list`,
    EXIT.detached,
  );
  const answer = await untilInterrupted(
    ({ signal }) => callTool(session, tool.name, args, !isJson(command), signal),
    detached,
  );
  if (answer.resultType !== 'task') return printImmediateResult(command, answer);
  const task = asTask(answer);
  if (!flags.detach) return waitFor(session, command, tool.name, task);
  printOutput(command, task, () => task.taskId);
}

/** Prints a result instead of a task: from short work, or a rejected call. */
function printImmediateResult(command: Command, answer: ToolResult): number {
  const result = withPlainText(answer);
  if (isJson(command)) printJson(result);
  else printResult(result);
  return result.isError ? exitCodeOfKind(errorKindOf(result)) : EXIT.ok;
}

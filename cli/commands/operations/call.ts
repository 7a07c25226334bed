import type { Command } from 'commander';
import { programCommand } from '../../../platform/home/program.js';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import type { Session } from '../../client/session.js';
import type { ToolDeclaration, ToolResult } from '../../client/wire.js';
import { print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';

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
    if (command.opts<CallFlags>().help) return help(command, tool);
    return call(session, command, tool, words);
  };
  runAgainstServer(command, run, async () => {
    await applyBuiltinFlags(command);
    if (command.opts<CallFlags>().up) await startStack(command);
  });
}

/** Ensures that the home's stack runs. @throws StackError when it doesn't start */
async function startStack(command: Command): Promise<void> {
  if (command.opts<{ url?: string }>().url)
    throw usageFailure('--up: starts the stack of a home, so it has no --url (nor LONGHAUL_URL) beside it');
  const [settings, { openHome }, { attachToStack }] = await Promise.all([
    settingsOf(command),
    import('../../../platform/home/index.js'),
    import('../../../stack/attach.js'),
  ]);
  openHome(settings.home, say);
  await attachToStack(settings, say);
}

/** Applies Longhaul's own flags after the tool's name, where commander doesn't parse flags. */
async function applyBuiltinFlags(command: Command): Promise<void> {
  const { extractBuiltinFlags } = await import('../../tools/tool-flags.js');
  const { own, words } = extractBuiltinFlags(command.processedArgs[1] as string[]);
  const program = command.parent!;
  for (const [name, value] of Object.entries(own)) {
    const isSetting = program.options.some((option) => option.attributeName() === name);
    (isSetting ? program : command).setOptionValueWithSource(name, value, 'cli');
  }
  command.processedArgs[1] = words;
}

async function help(command: Command, tool: ToolDeclaration): Promise<number> {
  const { toolHelp } = await import('../../tools/tool-help.js');
  if (isJson(command)) printJson(tool);
  else print(toolHelp(tool));
  return EXIT.ok;
}

async function call(
  session: Session,
  command: Command,
  tool: ToolDeclaration,
  words: string[],
): Promise<number> {
  const [{ parseToolFlags }, { callTool, readArguments }, { asTask }] = await Promise.all([
    import('../../tools/tool-flags.js'),
    import('../../tools/call.js'),
    import('../../client/task.js'),
  ]);
  const flags = command.opts<CallFlags>();
  const args = {
    ...(flags.args === undefined ? {} : readArguments(flags.args)),
    ...parseToolFlags(words, tool.name, tool.inputSchema),
  };
  const leaving = new AbortController();
  const leave = () =>
    leaving.abort(
      new CommandFailure(
        `${tool.name}: detached before the server answered; see ${programCommand()} list`,
        EXIT.detached,
      ),
    );
  process.once('SIGINT', leave);
  const answer = await callTool(session, tool.name, args, !isJson(command), leaving.signal).finally(() =>
    process.off('SIGINT', leave),
  );
  if (answer.resultType !== 'task') return printImmediateResult(command, answer);
  const task = asTask(answer);
  const { printToken, waitFor } = await import('../../follow/wait.js');
  return flags.detach ? printToken(command, task) : waitFor(session, command, tool.name, task);
}

/** Prints a result instead of a task: from short work, or a rejected call. */
async function printImmediateResult(command: Command, answer: ToolResult): Promise<number> {
  const [{ printResult }, { exitCodeOfKind }, { errorKindOf }, { withPlainText }] = await Promise.all([
    import('../../follow/outcome.js'),
    import('../../client/failures.js'),
    import('../../client/wire.js'),
    import('../../client/task.js'),
  ]);
  const result = withPlainText(answer);
  if (isJson(command)) printJson(result);
  else printResult(result);
  return result.isError ? exitCodeOfKind(errorKindOf(result)) : EXIT.ok;
}

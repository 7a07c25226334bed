/** Completes a command line for shells: commands, options, tools and their flags, tokens. Doesn't fail or block. */
import { extname } from 'node:path';
import type { Command, Option } from 'commander';
import { defineCommand } from '../lazy-commands.js';
import type { ListedOperation, ToolDeclaration } from './wire.js';

export interface Candidate {
  value: string;
  note?: string | undefined;
}

/** `files`: the shell itself completes paths. */
export type Completion = Candidate[] | 'files';

/** Options whose values are paths, by attribute. */
const PATHS = new Set(['home', 'project', 'binFolder', 'dataFolders', 'pipelineFolders', 'args', 'output']);
/** Options whose values are tools, by command and attribute. */
const TOOLS = new Set(['list tool']);
const FILE_COMMANDS = new Set(['check', 'lint', 'replay']);
const OPEN = ['submitted', 'working', 'input_required'];
const ENDED = ['completed', 'failed', 'canceled', 'timed_out'];
/** Commands that take tokens, with the statuses of operations that they apply to. */
const TOKEN_COMMANDS: Record<string, string[]> = {
  ...{ watch: OPEN, cancel: OPEN, answer: ['input_required'] },
  ...{ delete: ENDED, resume: ['failed', 'canceled', 'timed_out'] },
  ...{ status: [...OPEN, ...ENDED], result: [...OPEN, ...ENDED] },
  ...{ get: [...OPEN, ...ENDED], logs: [...OPEN, ...ENDED] },
};
/** Maximum number of operations offered. */
const TOKENS = 50;

/** The words before the one that is completed. */
interface Typed {
  command: Command;
  operands: string[];
  /** The option whose value is completed. */
  option?: Option | undefined;
  /** Everything after the tool's name in `call TOOL`. */
  toolWords: string[];
}

/**
 * @param words typed words after the program's name, the last one being completed; bash splits `--a=b` in three
 */
export async function completionsFor(program: Command, words: readonly string[]): Promise<Completion> {
  const joined = words.filter((word, at) => word !== '=' || !words[at - 1]?.startsWith('--'));
  const current = words.at(-1) === '=' ? '' : (joined.pop() ?? '');
  const typed = await parse(program, joined);
  if (!typed) return [];
  const [, flag, value] = /^(--[^=]+=)(.*)$/s.exec(current) ?? [];
  if (flag !== undefined && typed.option === undefined) {
    const found = await completionsFor(program, [...joined, flag.slice(0, -1), value ?? '']);
    return found === 'files' ? found : found.map((one) => ({ ...one, value: flag + one.value }));
  }
  const found = await candidates(program, typed, current);
  return found === 'files' ? found : found.filter((one) => one.value.startsWith(current));
}

/** @returns undefined after an unknown command */
async function parse(program: Command, words: string[]): Promise<Typed | undefined> {
  const typed: Typed = { command: program, operands: [], toolWords: [] };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (typed.command.name() === 'call' && typed.operands.length === 1) {
      typed.toolWords = words.slice(at);
      return typed;
    }
    const [name = '', given] = word.split(/=(.*)/s);
    const [owner, option] = optionOf(typed.command, program, name);
    if (option && (option.required || option.optional)) {
      const value = given ?? words[(at += 1)];
      if (value === undefined) return { ...typed, option };
      owner.setOptionValueWithSource(option.attributeName(), value, 'cli');
    } else if (word.startsWith('-')) continue;
    else if (typed.command !== program) {
      const command = typed.command.commands.find((one) => one.name() === word);
      if (command && typed.operands.length === 0) typed.command = command;
      else typed.operands.push(word);
    } else {
      const command = program.commands.find((one) => one.name() === word);
      // `help` is followed by a command too.
      if (!command && word !== 'help') return undefined;
      if (command) await defineCommand(command);
      typed.command = command ?? program;
    }
  }
  return typed;
}

function optionOf(command: Command, program: Command, name: string): [Command, Option | undefined] {
  const find = (one: Command) => one.options.find(({ long, short }) => name === long || name === short);
  const own = find(command);
  return own ? [command, own] : [program, find(program)];
}

async function candidates(program: Command, typed: Typed, current: string): Promise<Completion> {
  const { command, operands, option } = typed;
  const name = command.name();
  if (option) {
    if (PATHS.has(option.attributeName())) return 'files';
    if (TOOLS.has(`${name} ${option.attributeName()}`)) return tools(command);
    const choices =
      option.argChoices ?? /[<[]([^>\]]+\|[^>\]]+)[>\]]/.exec(option.flags)?.[1]?.split('|') ?? [];
    return choices.map((value) => ({ value }));
  }
  if (name === 'call' && operands.length === 1) return toolFlags(program, typed, current);
  if (current.startsWith('-')) return options(program, command);
  if (command.commands.length > 0 && operands.length === 0)
    return command
      .createHelp()
      .visibleCommands(command)
      .map((one) => ({ value: one.name(), note: one.description() }));
  // The names of commands of a command may be those of others, as in `deploy status`.
  if (command.parent !== program) return [];
  if (name === 'call' || (name === 'tools' && operands.length === 0)) return tools(command);
  if (FILE_COMMANDS.has(name)) return 'files';
  const statuses = TOKEN_COMMANDS[name];
  const argument = command.registeredArguments[operands.length] ?? command.registeredArguments.at(-1);
  const isFirst = operands.length === 0 || argument?.variadic === true;
  if (statuses && isFirst) return tokens(command, statuses, operands);
  return (isFirst ? (argument?.argChoices ?? []) : []).map((value) => ({ value }));
}

function options(program: Command, command: Command): Candidate[] {
  const visible = (one: Command) => one.createHelp().visibleOptions(one);
  return [...visible(command), ...(command === program ? [] : program.options)].flatMap(
    ({ long, description }) => (long ? [{ value: long, note: description }] : []),
  );
}

async function tools(command: Command): Promise<Candidate[]> {
  return (await toolsOf(command)).map(({ name, title, description }) => ({
    value: name,
    note: (description ?? title)?.split('\n')[0],
  }));
}

async function toolFlags(program: Command, { command, operands, toolWords }: Typed, current: string) {
  const [tool, { toolFlags: flagsOf, BUILTIN_FLAGS }, { choicesOf, formatValue, typesOf }] =
    await Promise.all([
      toolsOf(command).then((all) => all.find(({ name }) => name === operands[0])),
      import('./tool-flags.js'),
      import('./schema-values.js'),
    ]);
  const flags = tool ? flagsOf(tool.inputSchema) : [];
  const last = toolWords.at(-1);
  const isBoolean = (one: (typeof flags)[number]) => typesOf(one.schema).join() === 'boolean';
  const valued = flags.find((one) => one.flag === last);
  if (valued && (!isBoolean(valued) || !current.startsWith('-'))) {
    const choices = choicesOf(valued.schema)?.map(({ value }) => ({ value: formatValue(value) }));
    return choices ?? (isBoolean(valued) ? [{ value: 'true' }, { value: 'false' }] : ('files' as const));
  }
  if (last !== undefined && BUILTIN_FLAGS[last.replace(/^--/, '')])
    return PATHS.has(last.slice(2)) ? 'files' : [];
  const own = options(program, command).filter(({ value }) => value.slice(2) in BUILTIN_FLAGS);
  const ofTool = flags.flatMap((one) => [
    { value: one.flag, note: one.schema['description'] as string | undefined },
    ...(isBoolean(one) ? [{ value: `--no-${one.flag.slice(2)}` }] : []),
  ]);
  return current.startsWith('-') || current === '' ? [...ofTool, ...own] : [];
}

async function tokens(command: Command, statuses: string[], known: string[]): Promise<Candidate[]> {
  const { listOperations } = await import('./operation-tools.js');
  const session = await sessionOf(command);
  const { operations } = await listOperations(session, { limit: TOKENS });
  const isWanted = ({ token, status }: ListedOperation) =>
    statuses.includes(status) && !known.includes(token);
  return operations.filter(isWanted).map(({ token, tool, status, stage }) => ({
    value: token,
    note: [tool, status, stage].filter(Boolean).join(', '),
  }));
}

async function toolsOf(command: Command): Promise<ToolDeclaration[]> {
  return (await sessionOf(command)).tools();
}

/**
 * Session with the command's server, without reading a `longhaul.config.ts` or `.js`: pressing a key in a folder must not run
 * code from it.
 */
async function sessionOf(command: Command) {
  const [
    { Session },
    { findConfigFile, loadSettings, SETTING_VARIABLES },
    { checkReadable },
    { readStackState },
    { mcpUrl },
  ] = await Promise.all([
    import('./session.js'),
    import('../../platform/settings/index.js'),
    import('../../platform/home.js'),
    import('../../platform/temporal-address.js'),
    import('../../stack/readiness.js'),
  ]);
  const given = command.optsWithGlobals<Record<string, string | undefined>>();
  const url = given['url'] ?? process.env['LONGHAUL_URL'];
  if (url) return new Session(command, new URL(url));
  const file = findConfigFile(given['project'] ?? process.env[SETTING_VARIABLES.project], process.cwd());
  const isCode = file !== undefined && extname(file) !== '.json';
  const flags = { home: given['home'], host: given['host'], port: given['port'] };
  const { project: _project, ...variables } = SETTING_VARIABLES;
  const environment = Object.fromEntries(Object.values(variables).map((name) => [name, process.env[name]]));
  const settings = isCode
    ? await loadSettings(flags, environment, '/nonexistent')
    : await loadSettings({ ...flags, project: given['project'] });
  checkReadable(settings.home);
  const isNamed = given['host'] !== undefined || given['port'] !== undefined;
  const running = isNamed ? undefined : readStackState(settings.home).mcpUrl;
  return new Session(command, new URL(running ?? mcpUrl(settings)));
}

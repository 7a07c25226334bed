/** Hides words from commander's flag parsing: those after `longhaul call TOOL`, and tokens that begin with a dash. */
import type { Command, Option } from 'commander';

/** A token of a client's choice, or another caller's operation. No flag is that long and has one dash. */
const TOKEN_WITH_DASH = /^-(?!-)[\w.-]{26,}$/;

/** The command that commander will run, or explain after `help`. Undefined if it shows the program's own help or an error. */
export function findCalled(words: readonly string[], program: Command): Command | undefined {
  const operands: string[] = [];
  for (let at = 0; at < words.length && operands.length < 2; at += 1) {
    const word = words[at]!;
    const [name] = word.split('=');
    if (takesValue(program.options, word)) at += 1;
    else if (!word.startsWith('-')) operands.push(word);
    // Commander gives all words after an unknown option to the program.
    else if (word !== '--' && !program.options.some(({ long, short }) => name === long || word === short))
      break;
  }
  const called = operands[operands[0] === 'help' ? 1 : 0];
  return program.commands.find((command) => command.name() === called);
}

/** Inserts `--` before a tool's words, or before a token with a dash. @param called the command that the arguments call */
export function separateOperands(
  argv: readonly string[],
  program: Command,
  called: Command | undefined,
): string[] {
  const [node = '', script = '', ...words] = argv;
  const options = [...program.options, ...(called?.options ?? [])];
  const operands: number[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '--') return [...argv];
    if (takesValue(options, word)) at += 1;
    else if (!word.startsWith('-') || TOKEN_WITH_DASH.test(word)) operands.push(at);
    // Everything after the tool's name belongs to the tool.
    if (operands.length === 2 && words[operands[0]!] === 'call') break;
  }
  const [command, second] = operands;
  if (command === undefined || second === undefined) return [...argv];
  if (words[command] === 'call') {
    const tail = words.slice(second + 1);
    return [node, script, ...words.slice(0, second + 1), '--', ...tail.slice(tail[0] === '--' ? 1 : 0)];
  }
  const behind = operands.slice(1);
  if (!behind.some((at) => words[at]!.startsWith('-'))) return [...argv];
  const others = words.filter((_word, at) => !behind.includes(at));
  return [node, script, ...others, '--', ...behind.map((at) => words[at]!)];
}

function takesValue(options: readonly Option[], word: string): boolean {
  return options.some(
    ({ short, long, required, optional }) => (short === word || long === word) && (required || optional),
  );
}

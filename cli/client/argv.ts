/** Finds the called command, and hides the words after `longhaul call TOOL` from commander's flag parsing. */
import type { Command, Option } from 'commander';

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

/** Inserts `--` after the tool's name: everything after it belongs to the tool. @param called the command that the arguments call */
export function separateToolWords(
  argv: readonly string[],
  program: Command,
  called: Command | undefined,
): string[] {
  const options = [...program.options, ...(called?.options ?? [])];
  const operands: number[] = [];
  for (let at = 2; at < argv.length && operands.length < 2; at += 1) {
    const word = argv[at]!;
    if (word === '--') break;
    if (takesValue(options, word)) at += 1;
    else if (!word.startsWith('-')) operands.push(at);
  }
  const [command = 0, tool] = operands;
  if (tool === undefined || argv[command] !== 'call') return [...argv];
  const tail = argv.slice(tool + 1);
  return [...argv.slice(0, tool + 1), '--', ...tail.slice(tail[0] === '--' ? 1 : 0)];
}

function takesValue(options: readonly Option[], word: string): boolean {
  return options.some(
    ({ short, long, required, optional }) => (short === word || long === word) && (required || optional),
  );
}

/**
 * Protects words from commander's flag parsing: everything after the tool's name in `longhaul call TOOL`, and tokens that begin
 * with a dash.
 */
import type { Command } from 'commander';

/** Tokens made by the server have 27 or more characters, longer than any flag. */
const TOKEN_WITH_DASH = /^-[A-Za-z0-9_-]{26,}$/;

/** The process's arguments, with `--` inserted before the words of a tool, or before a token with a dash. */
export function separateOperands(argv: readonly string[], program: Command): string[] {
  const [node = '', script = '', ...words] = argv;
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const takesValue = (word: string) =>
    options.some(
      (option) => (option.short === word || option.long === word) && (option.required || option.optional),
    );
  const operands: number[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '--') return [...argv];
    if (takesValue(word)) at += 1;
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

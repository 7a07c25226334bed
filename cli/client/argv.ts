/**
 * Words that commander must not take for its own flags: everything behind the tool's name in `longhaul call TOOL`,
 * and tokens that begin with a dash.
 */
import type { Command } from 'commander';

/** Flags are shorter than tokens of the server's making, which have 27 or more characters. */
const TOKEN_WITH_DASH = /^-[A-Za-z0-9_-]{26,}$/;

/** The process's arguments, with `--` put in where the words of a tool, or a token with a dash, begin. */
export function withOperandsApart(argv: readonly string[], program: Command): string[] {
  const [node = '', script = '', ...words] = argv;
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const takesValue = (word: string) =>
    options.some(
      (option) => (option.short === word || option.long === word) && (option.required || option.optional),
    );
  const operands: number[] = [];
  for (let at = 0; at < words.length && operands.length < 2; at += 1) {
    const word = words[at]!;
    if (word === '--') return [...argv];
    if (takesValue(word)) at += 1;
    else if (TOKEN_WITH_DASH.test(word)) return [node, script, ...lastWith(words, at)];
    else if (!word.startsWith('-')) operands.push(at);
  }
  const [command, tool] = operands;
  if (command === undefined || tool === undefined || words[command] !== 'call') return [...argv];
  const tail = words.slice(tool + 1);
  return [node, script, ...words.slice(0, tool + 1), '--', ...tail.slice(tail[0] === '--' ? 1 : 0)];
}

/** The token and the operand that may follow it, moved behind everything else. */
function lastWith(words: string[], at: number): string[] {
  const next = words[at + 1];
  const count = next !== undefined && !next.startsWith('-') ? 2 : 1;
  return [...words.slice(0, at), ...words.slice(at + count), '--', ...words.slice(at, at + count)];
}

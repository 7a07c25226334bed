import { Argument, type Command } from 'commander';
import { completionScript, SHELLS } from '../client/completion-scripts.js';
import type { Completion } from '../client/completion.js';
import { print } from '../console.js';

/** Time limit for completion including the server's answer, from this process's start, in milliseconds. */
const LIMIT_MS = 900;
const LEAST_MS = 200;
/** Values that need no quoting in any shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;
const NOTE_CHARACTERS = 80;

const HELP = `
It completes commands, options, tools, their flags, and tokens, the last three from the running server. To load it:
  bash  source <(longhaul completion bash)       in ~/.bashrc
  zsh   source <(longhaul completion zsh)        in ~/.zshrc
  fish  longhaul completion fish | source        in ~/.config/fish/config.fish
`;

/** `longhaul completion`, and `longhaul complete`, which its scripts call. */
export function registerCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes command lines of longhaul, for bash, zsh or fish')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => print(completionScript(shell)));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completionsFor } = await import('../client/completion.js');
      const limitMs = Math.max(LEAST_MS, LIMIT_MS - process.uptime() * 1_000);
      const late = new Promise<Completion>((settle) => setTimeout(settle, limitMs, []));
      // Completion is silent about errors.
      const found = await Promise.race([completionsFor(program, words).catch(() => []), late]);
      const { oneLine } = await import('../client/table.js');
      const lines =
        found === 'files'
          ? [':files']
          : found
              .filter(({ value }) => PLAIN.test(value))
              .map(({ value, note = '' }) => `${value}\t${oneLine(note).slice(0, NOTE_CHARACTERS)}`);
      process.stdout.write(lines.map((line) => `${line}\n`).join(''), () => process.exit(0));
    });
}

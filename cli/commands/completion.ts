import { Argument, type Command } from 'commander';
import { completionScript, SHELLS } from '../client/completion-scripts.js';
import { print } from '../console.js';

const HELP = `
It completes commands, options, tools, their flags, and tokens, the last three from the running server. To load it:
  bash  source <(longhaul completion bash)       in ~/.bashrc
  zsh   source <(longhaul completion zsh)        in ~/.zshrc
  fish  longhaul completion fish | source        in ~/.config/fish/config.fish
`;

/** `longhaul completion`. */
export function define(command: Command): void {
  command
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => print(completionScript(shell)));
}

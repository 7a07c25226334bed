import type { Command } from 'commander';
import { shellWord } from '../../../platform/home/program.js';
import { withErrorReporting } from '../../client/command.js';
import { principalOfFlags } from '../../client/principal-flags.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { print } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
Questions with approvers or four eyes take no answer without a signature. This command signs one with the secret of the home,
as an operator's, and prints the command of Temporal's own command line that gives it.
`;

interface AnswerFlags {
  args?: string;
  decline?: boolean;
  tenant?: string;
  subject?: string;
}

export function define(command: Command): void {
  command
    .argument('<token>')
    .argument('<key>', "the question's key, such as input-1")
    .option(
      '--args <file>',
      'content of the answer as a JSON object in a file, - for standard input (default: {})',
    )
    .option('--decline', 'decline, instead of accepting with content')
    .option('--tenant <name>', 'tenant of the caller who started the operation (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .addHelpText('after', HELP);
  command.action((token: string, key: string) =>
    withErrorReporting(command, async () => {
      const flags = command.opts<AnswerFlags>();
      const [{ home }, { signAnswer }, { loadSecret }, { temporalFlags }, { readArguments }] =
        await Promise.all([
          settingsOf(command),
          import('../../../engine/start/sign.js'),
          import('../../../platform/home/secret.js'),
          import('../../../platform/temporal/connect-config.js'),
          import('../../tools/call.js'),
        ]);
      const content = flags.args === undefined ? {} : readArguments(flags.args);
      const { workflowId, input } = signAnswer(
        { principal: await principalOfFlags(flags), token },
        key,
        flags.decline ? { action: 'decline' } : { action: 'accept', content },
        loadSecret(home),
      );
      const place = Object.entries(temporalFlags(home) ?? {}).flatMap(([name, value]) => [
        `--${name}`,
        value,
      ]);
      const words = [...place, '-w', workflowId, '--name', 'provide_input', '--input', jsonText(input)];
      print(`temporal workflow update execute ${words.map(shellWord).join(' ')}`);
    }),
  );
}

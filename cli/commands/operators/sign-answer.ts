import type { Command } from 'commander';
import { signAnswer } from '../../../engine/start/sign.js';
import { shellWord } from '../../../platform/home/program.js';
import { loadSecret } from '../../../platform/home/secret.js';
import { temporalFlags } from '../../../platform/temporal/connect-config.js';
import { runReporting } from '../../client/command.js';
import { addPrincipalFlags, principalOfFlags, type PrincipalFlags } from '../../client/principal-flags.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { print } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';
import { readArguments } from '../../tools/call.js';

const HELP = `
Questions with approvers or four eyes take no answer without a signature. This command signs one with the secret of the home,
as an operator's, and prints the command of Temporal's own command line that gives it.
`;

interface AnswerFlags extends PrincipalFlags {
  args?: string;
  decline?: boolean;
}

export function define(command: Command): void {
  command
    .argument('<token>')
    .argument('<key>', "the question's key, such as input-1")
    .option(
      '--args <file>',
      'content of the answer as a JSON object in a file, - for standard input (default: {})',
    )
    .option('--decline', 'decline, instead of accepting with content');
  addPrincipalFlags(command, 'who started the operation').addHelpText('after', HELP);
  runReporting(command, async (token: string, key: string) => {
    const flags = command.opts<AnswerFlags>();
    const { home } = await settingsOf(command);
    const content = flags.args === undefined ? {} : readArguments(flags.args);
    const { workflowId, input } = signAnswer(
      { principal: principalOfFlags(flags), token },
      key,
      flags.decline ? { action: 'decline' } : { action: 'accept', content },
      loadSecret(home),
    );
    const place = Object.entries(temporalFlags(home) ?? {}).flatMap(([name, value]) => [`--${name}`, value]);
    const words = [...place, '-w', workflowId, '--name', 'provide_input', '--input', jsonText(input)];
    print(`temporal workflow update execute ${words.map(shellWord).join(' ')}`);
  });
}

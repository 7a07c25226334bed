import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer, wholeNumber } from '../../cli/client/command.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import { usageFailure } from '../../cli/client/failures.js';
import { parseExactJson } from '../../cli/tools/schema-values.js';
import type { SentMessage } from './call-mailbox-tool.js';
import { print, printJson, say } from '../../cli/console.js';

const DEFAULT_WAIT_SECONDS = 600;
/** Time limit of a request beyond its wait, in milliseconds. */
const ANSWER_MARGIN_MS = 30_000;

const HELP = `
Without --to, --type or --capability the message is for anyone: the first free agent takes it.
An agent named with --to need not be registered yet: its messages are kept for it.
`;

interface SendFlags {
  to?: string[];
  type?: string;
  capability?: string;
  all?: boolean;
  anyone?: boolean;
  mode?: string;
  context?: string;
  from?: string;
  replyTo?: string;
  key?: string;
  maxDeliveries?: number;
  wait?: string;
  timeout?: number;
}

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<message>', 'text of the message; - for standard input')
    .option('--to <names...>', 'recipients, by name')
    .option('--type <type>', 'only agents of this type')
    .option('--capability <capability>', 'only agents with this capability')
    .addOption(new Option('--all', 'every agent that matches').conflicts('anyone'))
    .option('--anyone', 'the first free agent that matches')
    .option('--mode <mode>', 'what the recipient should do with it (default: task)')
    .option('--context <json>', 'additional data, as JSON')
    .option('--from <name>', 'name of the sender (default: none)')
    .option('--reply-to <name>', 'agent that gets the response as a message')
    .option('--key <text>', 'idempotency key: sending the same message again has no effect')
    .option(
      '--max-deliveries <count>',
      'deliveries without an acknowledgement before it is a dead letter (default: 5)',
      wholeNumber,
    )
    .addOption(new Option('--wait [any|all]', 'wait for a response').choices(['any', 'all']).preset('all'))
    .option('--timeout <seconds>', `how long --wait waits (default: ${DEFAULT_WAIT_SECONDS})`, wholeNumber)
    .addHelpText('after', HELP);
  runAgainstServer(command, async (session, text: string) => {
    const [{ afterDeliveries, callMailboxTool }, { escapedLines }] = await Promise.all([
      import('./call-mailbox-tool.js'),
      import('../../cli/terminal/terminal-text.js'),
    ]);
    const flags = command.opts<SendFlags>();
    const timeout = flags.timeout ?? DEFAULT_WAIT_SECONDS;
    const sent = await callMailboxTool<SentMessage>(
      session,
      'send_message',
      argumentsOf(text, flags, timeout),
      {
        limitMs: (flags.wait === undefined ? 0 : timeout * 1000) + ANSWER_MARGIN_MS,
        onProgress: ({ message }) => {
          if (message !== undefined) escapedLines(message).forEach((line) => say(line));
        },
      },
    );
    if (isJson(command)) printJson(sent);
    else {
      if (flags.wait === undefined) print(sent.id);
      else say(`sent as ${sent.id}`);
      for (const [name, why] of Object.entries(sent.refused ?? {})) say(`${name}: not sent: ${why}`);
      for (const [name, response] of Object.entries(sent.r ?? {}))
        for (const line of escapedLines(`${name}: ${response}`)) print(line);
      for (const [name, state] of Object.entries(sent.state ?? {})) {
        const deliveries = sent.deliveries?.[name];
        say(`${name}: ${state}${deliveries === undefined ? '' : ` ${afterDeliveries(deliveries)}`}`);
      }
    }
    return sent.nw ? EXIT.unfinished : EXIT.ok;
  });
}

function argumentsOf(text: string, flags: SendFlags, timeoutSeconds: number): Record<string, unknown> {
  const { to, type, capability, mode, from, replyTo: reply_to, key: idempotency_key, wait } = flags;
  const who = flags.all ? 'all' : flags.anyone ? 'anyone' : undefined;
  const all = {
    content: text === '-' ? readFileSync(0, 'utf8') : text,
    to: to?.length === 1 ? to[0] : to,
    who,
    type,
    capability,
    mode,
    from,
    reply_to,
    idempotency_key,
    max_deliveries: flags.maxDeliveries,
    context: contextOf(flags.context),
    ...(wait === undefined ? {} : { wait_for_reply: wait, timeout_seconds: timeoutSeconds }),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function contextOf(text: string | undefined): unknown {
  const context = text === undefined ? undefined : parseExactJson(text, '--context');
  if (text === undefined || context !== undefined) return context;
  throw usageFailure(`--context: expected JSON; got ${JSON.stringify(text.slice(0, 80))}`);
}

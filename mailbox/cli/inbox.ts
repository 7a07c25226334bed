import { Option, type Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../cli/client/command.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import type { InboxMessage } from './call-mailbox-tool.js';
import type { Session } from '../../cli/client/session.js';
import { print, printJson, say } from '../../cli/console.js';
import { CommandFailure } from '../../cli/failure.js';

/** Wait for new messages per request, in seconds. */
const WAIT_SECONDS = 50;
const REQUEST_LIMIT_MS = (WAIT_SECONDS + 30) * 1000;
/** Number of message IDs remembered as shown. */
const SEEN_LIMIT = 1_000;

const HELP = `
Messages stay in the inbox until the agent takes them. Ctrl-C stops following.
A dead letter reached its maximum deliveries without an acknowledgement. To resend or drop one: longhaul dead-letters.
`;

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<name>')
    .addOption(new Option('--follow', 'keep running, and show each new message').conflicts('dead'))
    .option('--dead', 'show its dead letters instead')
    .addHelpText('after', HELP);
  runAgainstServer(command, async (session, name: string) => {
    const { callMailboxTool } = await import('./call-mailbox-tool.js');
    const { follow: isFollowing, dead } = command.opts<{ follow?: boolean; dead?: boolean }>();
    if (isFollowing) return follow(session, command, name);
    const tool = dead ? 'dead_letters' : 'check_inbox';
    const { messages } = await callMailboxTool<{ messages: InboxMessage[] }>(session, tool, {
      agent_name: name,
    });
    await show(command, messages);
    if (!messages.length && !isJson(command)) print(dead ? 'No dead letters.' : 'No messages.');
    return EXIT.ok;
  });
}

async function follow(session: Session, command: Command, name: string): Promise<number> {
  const [{ callMailboxTool }, { ReconnectPolicy }] = await Promise.all([
    import('./call-mailbox-tool.js'),
    import('../../cli/client/reconnect-policy.js'),
  ]);
  const leaving = new AbortController();
  const { signal } = leaving;
  const onConnectionChange = (reason?: string) =>
    say(reason === undefined ? 'the server is back' : `messages can't be read (${reason}); retrying`);
  const policy = new ReconnectPolicy({ signal, isKnown: false, onConnectionChange });
  const leave = () => leaving.abort(new CommandFailure('left', EXIT.detached));
  process.once('SIGINT', leave);
  let seen: string[] = [];
  try {
    while (!signal.aborted) {
      const answer = await policy.retryUntilAnswered(() =>
        callMailboxTool<{ messages?: InboxMessage[] }>(
          session,
          'check_inbox',
          { agent_name: name, seen, timeout_seconds: WAIT_SECONDS },
          { signal, limitMs: REQUEST_LIMIT_MS },
        ),
      );
      const messages = answer?.messages ?? [];
      await show(command, messages);
      seen = [...seen, ...messages.map(({ id }) => id)].slice(-SEEN_LIMIT);
    }
  } finally {
    process.off('SIGINT', leave);
  }
  return EXIT.detached;
}

async function show(command: Command, messages: InboxMessage[]): Promise<void> {
  const [{ afterDeliveries }, { escapedLines }] = await Promise.all([
    import('./call-mailbox-tool.js'),
    import('../../cli/terminal/terminal-text.js'),
  ]);
  for (const message of messages) {
    if (isJson(command)) {
      printJson(message);
      continue;
    }
    const { id, from = 'an unnamed sender', mode, m, ctx, re, sent, deliveries } = message;
    const after = deliveries === undefined ? '' : ` ${afterDeliveries(deliveries)}`;
    const state = `${message.state ?? 'dead'}${after}`;
    const about = re === undefined ? '' : `, in response to ${re}`;
    for (const line of escapedLines(`${sent} ${id} (${mode}, ${state}) from ${from}${about}`)) print(line);
    for (const line of escapedLines(m)) print(`  ${line}`);
    if (ctx !== undefined) for (const line of escapedLines(JSON.stringify(ctx))) print(`  context: ${line}`);
  }
}

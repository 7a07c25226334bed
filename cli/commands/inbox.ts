import { Option, type Command } from 'commander';
import { clientCommand, isJson, printJson, runAgainstServer } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import type { InboxMessage } from '../client/mailbox.js';
import type { Session } from '../client/session.js';
import { print, say } from '../console.js';
import { CommandFailure } from '../failure.js';

/** How long one request waits for new messages, in seconds. */
const LOOK_SECONDS = 50;
/** Time limit of that request, in milliseconds. */
const LOOK_LIMIT_MS = (LOOK_SECONDS + 30) * 1000;
/** Number of shown messages that are remembered. */
const MOST_SEEN = 1_000;

const HELP = `
Looking takes nothing: the agent gets its messages all the same. Ctrl-C ends the following.
A dead letter was delivered as often as it may be and never acknowledged. To resend or drop one: longhaul dead-letters.
`;

/** `longhaul inbox`. */
export function registerInbox(program: Command): void {
  const command = clientCommand(program, 'inbox', "show an agent's messages")
    .argument('<name>')
    .addOption(new Option('--follow', 'keep running, and show each message as it comes').conflicts('dead'))
    .option('--dead', 'its dead letters instead')
    .addHelpText('after', HELP);
  runAgainstServer(command, async (session, name: string) => {
    const { callMailboxTool } = await import('../client/mailbox.js');
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
    import('../client/mailbox.js'),
    import('../client/reconnect-policy.js'),
  ]);
  const leaving = new AbortController();
  const { signal } = leaving;
  const onConnectionChange = (reason?: string) =>
    say(reason === undefined ? 'the server is back' : `no messages just now (${reason}); retrying`);
  const reconnects = new ReconnectPolicy({ signal, isKnown: false, onConnectionChange });
  const leave = () => leaving.abort(new CommandFailure('left', EXIT.detached));
  process.once('SIGINT', leave);
  let seen: string[] = [];
  try {
    while (!signal.aborted) {
      const answer = await reconnects.retryUntilAnswered(() =>
        callMailboxTool<{ messages?: InboxMessage[] }>(
          session,
          'check_inbox',
          { agent_name: name, seen, timeout_seconds: LOOK_SECONDS },
          { signal, limitMs: LOOK_LIMIT_MS },
        ),
      );
      const messages = answer?.messages ?? [];
      await show(command, messages);
      seen = [...seen, ...messages.map(({ id }) => id)].slice(-MOST_SEEN);
    }
  } finally {
    process.off('SIGINT', leave);
  }
  return EXIT.detached;
}

async function show(command: Command, messages: InboxMessage[]): Promise<void> {
  const [{ afterDeliveries }, { escapedLines }] = await Promise.all([
    import('../client/mailbox.js'),
    import('../client/terminal-text.js'),
  ]);
  for (const message of messages) {
    if (isJson(command)) {
      printJson(message);
      continue;
    }
    const { id, from = 'nobody in particular', mode, m, ctx, re, sent, deliveries } = message;
    const state = message.state ?? `dead ${afterDeliveries(deliveries!)}`;
    const about = re === undefined ? '' : `, in response to ${re}`;
    for (const line of escapedLines(`${sent} ${id} (${mode}, ${state}) from ${from}${about}`)) print(line);
    for (const line of escapedLines(m)) print(`  ${line}`);
    if (ctx !== undefined) for (const line of escapedLines(JSON.stringify(ctx))) print(`  context: ${line}`);
  }
}

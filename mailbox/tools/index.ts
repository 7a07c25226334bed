/** The mailbox in a server process: its tools, its gauges and its agents' waits. */
import type { Engine } from '../../engine/index.js';
import type { Mounted } from '../../mcp-server/mount.js';
import { registerMailboxGauges } from '../client/gauges.js';
import { Mailbox } from '../client/index.js';
import type { MailboxToolName } from '../tool-names.js';
import { bye, checkInbox, checkStatus, deadLetters, reportProgress } from './agent-tools.js';
import { checkReplies, sendMessage } from './sender-tools.js';
import type { MailboxTool } from './mailbox-tool.js';
import { registerAndWait, respondAndWait, wait } from './waiting-tools.js';

export const MAILBOX_TOOLS: Record<MailboxToolName, MailboxTool> = {
  register_and_wait: registerAndWait,
  respond_and_wait: respondAndWait,
  wait,
  send_message: sendMessage,
  check_replies: checkReplies,
  check_status: checkStatus,
  check_inbox: checkInbox,
  report_progress: reportProgress,
  dead_letters: deadLetters,
  bye,
};

export function openMailbox(engine: Engine, secret: Buffer): Mounted {
  const { temporal, watches } = engine;
  const mailbox = new Mailbox(temporal, watches, secret);
  return {
    name: 'mailbox',
    tools: new Map(Object.entries(MAILBOX_TOOLS).map(([name, toolOf]) => [name, toolOf(mailbox)])),
    registerGauges: () => registerMailboxGauges(temporal),
    close: () => mailbox.close(),
  };
}

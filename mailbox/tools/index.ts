/** The mailbox's tools, by name. */
import type { MailboxToolName } from '../tool-names.js';
import type { BuiltinTool } from '../../mcp-server/plain/builtin-tool.js';
import { bye } from './bye.js';
import { checkInbox } from './check_inbox.js';
import { checkReplies } from './check_replies.js';
import { checkStatus } from './check_status.js';
import { deadLetters } from './dead_letters.js';
import { registerAndWait } from './register_and_wait.js';
import { reportProgress } from './report_progress.js';
import { respondAndWait } from './respond_and_wait.js';
import { sendMessage } from './send_message.js';
import { wait } from './wait.js';

const BY_NAME: Record<MailboxToolName, BuiltinTool> = {
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

export const mailboxTools: ReadonlyMap<string, BuiltinTool> = new Map(Object.entries(BY_NAME));

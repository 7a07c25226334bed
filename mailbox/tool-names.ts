/** Names of the mailbox's tools. A project's tools can't have them while the mailbox is switched on. */
export const MAILBOX_TOOL_NAMES = [
  'register_and_wait',
  'respond_and_wait',
  'wait',
  'send_message',
  'check_replies',
  'check_status',
  'check_inbox',
  'report_progress',
  'dead_letters',
  'bye',
] as const;

export type MailboxToolName = (typeof MAILBOX_TOOL_NAMES)[number];

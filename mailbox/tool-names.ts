/** Names of the mailbox's tools. While it is switched on, no tool of a project can have them. */
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

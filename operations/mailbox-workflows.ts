/** Workflow types of the mailbox, by which the engine recognizes its runs. */
export const INBOX_WORKFLOW = 'mailbox_inbox';
export const DIRECTORY_WORKFLOW = 'mailbox_directory';

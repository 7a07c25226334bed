/** Workflow types of the mailbox, by which the engine tells its runs from those of others. */
export const INBOX_WORKFLOW = 'mailbox_inbox';
export const DIRECTORY_WORKFLOW = 'mailbox_directory';

/** The mailbox's workflow types, for the engine to recognize its runs. */
export const INBOX_WORKFLOW = 'mailbox_inbox';
export const DIRECTORY_WORKFLOW = 'mailbox_directory';

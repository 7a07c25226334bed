/** The workflows of the mailbox. They are no operations: nothing of the shell is in them. */
export { mailbox_directory } from './directory.js';
export { mailbox_inbox } from './inbox.js';

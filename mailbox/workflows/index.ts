/** The workflows of the mailbox. They are no operations and don't use the workflow runtime. */
export { mailbox_directory } from './directory.js';
export { mailbox_inbox } from './inbox.js';

/** The mailbox's workflows. They aren't operations, and don't use the workflow runtime. */
export { mailbox_directory } from './directory.js';
export { mailbox_inbox } from './inbox.js';

/** Features that Longhaul mounts beside operations. Each loads on first use. */
import type { CommandRow } from './cli/lazy-commands.js';
import { mailboxCommands } from './mailbox/cli/index.js';
import { MAILBOX_TOOL_NAMES } from './mailbox/tool-names.js';
import type { Mount } from './mcp-server/mount.js';

export const MOUNTS: readonly Mount[] = [
  {
    name: 'mailbox',
    toolNames: MAILBOX_TOOL_NAMES,
    open: async (engine, secret) => (await import('./mailbox/tools/index.js')).openMailbox(engine, secret),
  },
];

/** Commands, listed after Longhaul's own. */
export const MOUNTED_COMMANDS: readonly CommandRow[] = mailboxCommands;

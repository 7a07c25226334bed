/** The mailbox's commands, in the order of the help. */
import { OPERATIONS, type CommandRow } from '../../cli/lazy-commands.js';

function row(name: string, description: string, load: CommandRow['load']): CommandRow {
  return { name, group: OPERATIONS, description, load };
}

export const mailboxCommands: readonly CommandRow[] = [
  row('agents', 'list the agents that wait for messages', () => import('./agents.js')),
  row('send', 'send a message to agents', () => import('./send.js')),
  row('inbox', "show an agent's messages", () => import('./inbox.js')),
  row('dead-letters', 'resend or drop dead letters', () => import('./dead-letters.js')),
  row('bye', "end an agent's wait", () => import('./bye.js')),
];

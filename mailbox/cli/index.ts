/** The mailbox's commands, in the order of the help. */
import { OPERATIONS, type CommandRow } from '../../cli/lazy-commands.js';

export const mailboxCommands: readonly CommandRow[] = [
  {
    name: 'agents',
    group: OPERATIONS,
    description: 'list the agents that wait for messages',
    load: () => import('./agents.js'),
  },
  {
    name: 'send',
    group: OPERATIONS,
    description: 'send a message to agents',
    load: () => import('./send.js'),
  },
  {
    name: 'inbox',
    group: OPERATIONS,
    description: "show an agent's messages",
    load: () => import('./inbox.js'),
  },
  {
    name: 'dead-letters',
    group: OPERATIONS,
    description: 'resend or drop dead letters',
    load: () => import('./dead-letters.js'),
  },
  {
    name: 'bye',
    group: OPERATIONS,
    description: "end an agent's wait",
    load: () => import('./bye.js'),
  },
];

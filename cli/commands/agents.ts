import type { Command } from 'commander';
import { clientCommand, isJson, printJson, runs } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import type { Agent } from '../client/mailbox.js';
import { print, say } from '../console.js';

/** `longhaul agents`. */
export function registerAgents(program: Command): void {
  const command = clientCommand(program, 'agents', 'list the agents that wait for messages').option(
    '--parent <name>',
    'only those of this parent',
  );
  runs(command, async (session) => {
    const { callMailboxTool } = await import('../client/mailbox.js');
    const { parent } = command.opts<{ parent?: string }>();
    const status = await callMailboxTool<{ agents: Agent[]; offers: number }>(
      session,
      'check_status',
      parent === undefined ? {} : { parent },
    );
    if (isJson(command)) printJson(status);
    else {
      const { textTable, oneLine } = await import('../client/table.js');
      const rows = status.agents.map(({ name, type, state, queued, capabilities, parent: of, seen }) =>
        [name, type, state, String(queued), capabilities.join(', '), of ?? '', seen].map(oneLine),
      );
      const head = ['NAME', 'TYPE', 'STATE', 'QUEUED', 'CAPABILITIES', 'PARENT', 'SEEN'];
      print(rows.length ? textTable([head, ...rows]) : 'No agents.');
      if (status.offers > 0) say(`Messages for anyone that nobody has taken yet: ${status.offers}`);
    }
    return EXIT.ok;
  });
}

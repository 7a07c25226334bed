import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../cli/client/command.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import type { Agent } from './call-mailbox-tool.js';
import { print, printJson, say } from '../../cli/console.js';

/** Agents per request. */
const PAGE = 200;

interface StatusPage {
  agents: Agent[];
  offers: number;
  next_cursor?: string;
}

export function define(command: Command): void {
  addClientFlags(command).option('--parent <name>', 'only those of this parent');
  runAgainstServer(command, async (session) => {
    const { callMailboxTool } = await import('./call-mailbox-tool.js');
    const { parent } = command.opts<{ parent?: string }>();
    const status: { agents: Agent[]; offers: number } = { agents: [], offers: 0 };
    let cursor: string | undefined;
    do {
      const { agents, offers, next_cursor } = await callMailboxTool<StatusPage>(session, 'check_status', {
        limit: PAGE,
        parent,
        cursor,
      });
      status.agents.push(...agents);
      status.offers = offers;
      cursor = next_cursor;
    } while (cursor !== undefined);
    if (isJson(command)) printJson(status);
    else {
      const { textTable, oneLine } = await import('../../cli/terminal/table.js');
      const rows = status.agents.map(({ name, type, state, queued, capabilities, parent: of, seen }) =>
        [name, type, state, String(queued), capabilities.join(', '), of ?? '', seen].map(oneLine),
      );
      const head = ['NAME', 'TYPE', 'STATE', 'QUEUED', 'CAPABILITIES', 'PARENT', 'SEEN'];
      print(rows.length ? textTable([head, ...rows]) : 'No agents.');
      for (const { name, dead } of status.agents)
        if (dead) say(`Dead letters of ${name}: ${dead}; see longhaul inbox ${name} --dead`);
      if (status.offers > 0) say(`Messages for anyone, not yet taken: ${status.offers}`);
    }
    return EXIT.ok;
  });
}

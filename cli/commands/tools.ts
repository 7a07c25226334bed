import type { Command } from 'commander';
import { clientCommand, isJson, printJson, runs } from '../client/command.js';
import { print } from '../console.js';

/** `longhaul tools`. */
export function registerTools(program: Command): void {
  const command = clientCommand(program, 'tools', 'list the tools that the server has');
  runs(command, async (session) => {
    const tools = await session.tools();
    if (isJson(command)) printJson({ tools });
    else {
      const { oneLine, textTable } = await import('../client/table.js');
      const rows = tools.map(({ name, title, description }) => [
        name,
        oneLine((description ?? title ?? '').split('\n')[0]!),
      ]);
      print(rows.length ? textTable(rows) : 'The server has no tools.');
    }
    return 0;
  });
}

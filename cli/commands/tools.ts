import type { Command } from 'commander';
import { OPERATION_TOOL_PREFIX } from '../../operations/tool.js';
import { clientCommand, isJson, printJson, runs } from '../client/command.js';
import { print } from '../console.js';

/** `longhaul tools`. */
export function registerTools(program: Command): void {
  const command = clientCommand(program, 'tools', 'list the tools that the server has').option(
    '--estimates',
    'how long your latest runs of each took, and what was estimated',
  );
  runs(command, async (session) => {
    const tools = await session.tools();
    if (command.opts<{ estimates?: true }>().estimates) {
      const { compareEstimates, estimatesTable } = await import('../client/estimates.js');
      const names = tools.map(({ name }) => name).filter((name) => !name.startsWith(OPERATION_TOOL_PREFIX));
      const estimates = await compareEstimates(session, names);
      if (isJson(command)) printJson({ estimates });
      else print(estimates.length ? estimatesTable(estimates) : 'The server has no tools.');
      return 0;
    }
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

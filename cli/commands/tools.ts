import type { Command } from 'commander';
import { clientCommand, isJson, printJson, runs } from '../client/command.js';
import type { Session } from '../client/session.js';
import { print } from '../console.js';

/** `longhaul tools`. */
export function registerTools(program: Command): void {
  const command = clientCommand(program, 'tools', 'list the tools that the server has').option(
    '--doc <tool>',
    "print a tool's whole documentation",
  );
  runs(command, async (session) => {
    const { doc } = command.opts<{ doc?: string }>();
    await (doc === undefined ? list(session, isJson(command)) : document(session, doc, isJson(command)));
    return 0;
  });
}

async function list(session: Session, json: boolean): Promise<void> {
  const tools = await session.tools();
  if (json) return printJson({ tools });
  const { oneLine, textTable } = await import('../client/table.js');
  const rows = tools.map(({ name, title, description }) => [
    name,
    oneLine((description ?? title ?? '').split('\n')[0]!),
  ]);
  print(rows.length ? textTable(rows) : 'The server has no tools.');
}

async function document({ url }: Session, tool: string, json: boolean): Promise<void> {
  const { fetchToolDocs } = await import('../client/tool-docs.js');
  const text = await fetchToolDocs(url, tool, json ? 'application/json' : 'text/markdown');
  if (json) return printJson(JSON.parse(text));
  const { harmless } = await import('../client/terminal-text.js');
  print(text.trimEnd().split('\n').map(harmless).join('\n'));
}

import { Option, type Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import type { Session } from '../../client/session.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson, say } from '../../console.js';

const NONE = 'The server has no tools.';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('[tool]', 'print its whole documentation')
    .option('--estimates', 'compare the duration of your latest runs with their estimates')
    .addOption(
      new Option('--format <api>', 'print the tools as definitions for a model API, as JSON')
        .choices(['openai', 'anthropic'])
        .conflicts('estimates'),
    );
  runAgainstServer(command, async (session, tool?: string) => {
    const { estimates, format } = command.opts<{ estimates?: true; format?: string }>();
    if (tool !== undefined && (estimates || format !== undefined))
      throw usageFailure('--estimates and --format are for all tools: leave the name out');
    if (format !== undefined) return printDefinitions(session, format);
    const json = isJson(command);
    await (tool !== undefined
      ? document(session, tool, json)
      : estimates
        ? compare(session, json)
        : list(session, json));
    return 0;
  });
}

async function list(session: Session, json: boolean): Promise<void> {
  const { tools, problems } = await session.listTools();
  if (json) return printJson({ tools, ...(problems.length > 0 ? { problems } : {}) });
  const { oneLine, textTable } = await import('../../terminal/table.js');
  const rows = tools.map(({ name, title, description }) => [
    name,
    oneLine((description ?? title ?? '').split('\n')[0]!),
  ]);
  print(rows.length ? textTable(rows) : NONE);
  for (const problem of problems) say(`problem: ${problem}`);
}

async function compare(session: Session, json: boolean): Promise<void> {
  const [{ compareEstimates, estimatesTable }, { OPERATION_TOOL_PREFIX }] = await Promise.all([
    import('../../tools/estimates.js'),
    import('../../../operations/tool/index.js'),
  ]);
  const tools = await session.tools();
  const names = tools.map(({ name }) => name).filter((name) => !name.startsWith(OPERATION_TOOL_PREFIX));
  const estimates = await compareEstimates(session, names);
  if (json) return printJson({ estimates });
  print(estimates.length ? estimatesTable(estimates) : NONE);
}

async function printDefinitions({ url }: Session, format: string): Promise<number> {
  const { fetchJobsApi } = await import('../../tools/tool-docs.js');
  printJson(JSON.parse(await fetchJobsApi(url, `v1/tools?format=${format}`, 'application/json')));
  return 0;
}

async function document({ url }: Session, tool: string, json: boolean): Promise<void> {
  const { fetchToolDocs } = await import('../../tools/tool-docs.js');
  const text = await fetchToolDocs(url, tool, json ? 'application/json' : 'text/markdown');
  if (json) return printJson(JSON.parse(text));
  print(text.trimEnd());
}

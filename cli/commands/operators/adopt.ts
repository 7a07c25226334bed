import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { AdoptingTool } from '../../../engine/external/adopt.js';
import { isJson } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { principalOfFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { withTemporal } from '../../with-temporal.js';

const HELP = `
Prints a token for a run that a person, a program or a schedule has started, so that agents can watch, answer and cancel it as an
operation. It needs a tool in tools/*.yaml over the run's workflow type, with \`adopt: true\`. The token holds for later runs of the
same execution too: after continue-as-new, a retry or a reset. Nothing is written to Temporal.

Exit code: 0 with a token, 2 for wrong usage, 3 when Temporal can't be reached, 4 when it has no such run, 1 when it can't be adopted.`;

interface AdoptFlags {
  tool?: string;
  tenant?: string;
  subject?: string;
}

export function define(command: Command): void {
  command
    .argument('<workflow-id>', "the run's workflow ID")
    .option('--tool <name>', 'tool that it belongs to (default: the one over its workflow type)')
    .option('--tenant <name>', 'tenant of the caller who gets the token (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action((workflowId: string) =>
    withTemporal(command, async (client, settings) => {
      const flags = command.opts<AdoptFlags>();
      const [{ loadTools }, { adoptingTools, adoptRun }, { createLogger }, { loadSecret }] =
        await Promise.all([
          import('../../load-tools.js'),
          import('../../../engine/external/adopt.js'),
          import('../../../platform/observe/log.js'),
          import('../../../platform/home/secret.js'),
        ]);
      const tools = await loadTools(settings, createLogger('adopt', 'error'));
      const candidates = adoptingTools(tools.values()).filter(({ name }) => name === (flags.tool ?? name));
      if (candidates.length === 0)
        throw new CommandFailure(
          flags.tool === undefined
            ? 'no tool in tools/*.yaml has `adopt: true`'
            : `--tool ${flags.tool}: expected a tool over an external workflow with \`adopt: true\``,
          EXIT.usage,
        );
      const found = await findRun(client, workflowId, candidates);
      if (!found) throw new CommandFailure(`${workflowId}: Temporal has no such workflow`, EXIT.notFound);
      const matching = found.tools.filter(({ external }) => external.type === found.description.type);
      if (matching.length > 1)
        throw new CommandFailure(
          `${workflowId}: several tools are over ${found.description.type}; name one with --tool: ${matching.map(({ name }) => name).join(', ')}`,
          EXIT.usage,
        );
      const tool = matching[0] ?? found.tools[0]!;
      const principal = await principalOfFlags(flags);
      const token = adoptRun(found.description, tool, principal, loadSecret(settings.home));
      if (isJson(command)) printJson({ token, tool: tool.name, workflow_id: workflowId });
      else {
        print(token);
        say(`${workflowId} is an operation of ${tool.name} now: longhaul watch ${token}`);
      }
      // Watching the files of tools keeps the process alive.
      exitOnceWritten();
    }),
  );
}

/** The run, in the first namespace that has it, with the tools over that namespace. */
async function findRun(client: Client, workflowId: string, candidates: AdoptingTool[]) {
  const own = client.options.namespace;
  const namespaces = new Set(candidates.map(({ external }) => external.namespace ?? own));
  const { Client: NamespaceClient } = await import('@temporalio/client');
  for (const namespace of namespaces) {
    const there =
      namespace === own ? client : new NamespaceClient({ connection: client.connection, namespace });
    try {
      const description = await there.workflow.getHandle(workflowId).describe();
      return {
        description,
        tools: candidates.filter(({ external }) => (external.namespace ?? own) === namespace),
      };
    } catch (error) {
      if ((error as Error).name !== 'WorkflowNotFoundError') throw error;
    }
  }
  return undefined;
}

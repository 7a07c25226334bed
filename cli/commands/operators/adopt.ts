import { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { adoptingTools, adoptRun, type AdoptingTool } from '../../../engine/external/adopt.js';
import { loadSecret } from '../../../platform/home/secret.js';
import { createLogger } from '../../../platform/observe/log.js';
import { addJsonFlag, printOutput, isJson } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { addPrincipalFlags, principalOfFlags, type PrincipalFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { loadTools } from '../../load-tools.js';
import { runOnTemporal } from '../../with-temporal.js';

const HELP = `
Prints a token for a run that a person, a program or a schedule has started, so that agents can watch, answer and cancel it as an
operation. It needs a tool in tools/*.yaml over the run's workflow type, with \`adopt: true\`. The token holds for later runs of the
same execution too: after continue-as-new, a retry or a reset. Nothing is written to Temporal.

Exit code: 0 with a token, 2 for wrong usage, 3 when Temporal can't be reached, 4 when it has no such run, 1 when it can't be adopted.`;

export function define(command: Command): void {
  command
    .argument('<workflow-id>', "the run's workflow ID")
    .option('--tool <name>', 'tool that it belongs to (default: the one over its workflow type)');
  addPrincipalFlags(command, 'who gets the token');
  addJsonFlag(command).addHelpText('after', HELP);
  runOnTemporal(command, async (client, settings, workflowId: string) => {
    const flags = command.opts<PrincipalFlags & { tool?: string }>();
    const tools = await loadTools(settings, createLogger('adopt', 'error'));
    const candidates = adoptingTools(tools.values()).filter(({ name }) => name === (flags.tool ?? name));
    if (candidates.length === 0)
      throw usageFailure(
        flags.tool === undefined
          ? 'no tool in tools/*.yaml has `adopt: true`'
          : `--tool ${flags.tool}: expected a tool over an external workflow with \`adopt: true\``,
      );
    const found = await findRun(client, workflowId, candidates);
    if (!found) throw new CommandFailure(`${workflowId}: Temporal has no such workflow`, EXIT.notFound);
    const { type } = found.description;
    const matching = found.tools.filter(({ external }) => external.type === type);
    if (matching.length > 1)
      throw usageFailure(
        `${workflowId}: several tools are over ${type}; name one with --tool: ${matching.map(({ name }) => name).join(', ')}`,
      );
    const tool = matching[0] ?? found.tools[0]!;
    const token = adoptRun(found.description, tool, principalOfFlags(flags), loadSecret(settings.home));
    printOutput(command, { token, tool: tool.name, workflow_id: workflowId }, () => token);
    if (!isJson(command)) say(`${workflowId} is an operation of ${tool.name} now: longhaul watch ${token}`);
    // Watching the files of tools keeps the process alive.
    exitOnceWritten();
  });
}

/** The run, in the first namespace that has it, with the tools over that namespace. */
async function findRun(client: Client, workflowId: string, candidates: AdoptingTool[]) {
  const own = client.options.namespace;
  const namespaces = new Set(candidates.map(({ external }) => external.namespace ?? own));
  for (const namespace of namespaces) {
    const there = namespace === own ? client : new Client({ connection: client.connection, namespace });
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

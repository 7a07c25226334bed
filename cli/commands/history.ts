import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { Option, type Command } from 'commander';
import type { HistoryEvent } from '../../engine/history.js';
import type { Run } from '../../platform/executions.js';
import { isJson } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { print, printJson, say } from '../console.js';
import { CommandFailure } from '../failure.js';
import { withTemporal } from '../with-temporal.js';

const HELP = `
Shows what happened in the operation's workflow: each event with the time since the start, the activity or step, its attempt,
how long it took, and the messages of failures. Arguments, results and other values are left out, since they may hold secrets.

  longhaul history TOKEN                      the current run
  longhaul history TOKEN --follow             also what happens from now on, until the run ends
  longhaul history TOKEN --output run.json    a file for Temporal's UI and command line, and for longhaul replay

Exit code: 0 when it was shown, 2 for wrong usage, 3 when Temporal can't be reached, 4 when it has no such run.`;

interface HistoryFlags {
  run?: string;
  all?: boolean;
  payloads?: boolean;
  follow?: boolean;
  output?: string;
  tenant?: string;
  subject?: string;
}

/** `longhaul history`. */
export function define(command: Command): void {
  command
    .argument('<token>', 'token or workflow ID of the operation, or of a child workflow')
    .option('--run <id>', 'a run other than the current one, such as the one before a reset')
    .option('--all', 'also workflow tasks that completed')
    .option('--payloads', 'also arguments, results and other values, decoded; they may hold secrets')
    .addOption(new Option('--follow', 'show further events until the run ends').conflicts('output'))
    .option('--output <file>', 'write the whole history, with all values, as JSON (.gz: compressed)')
    .option('--tenant <name>', 'tenant of the caller whose token it is (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .option('--json', 'print a JSON object for each event, for programs')
    .addHelpText('after', HELP);
  command.action((token: string) =>
    withTemporal(command, async (client, settings) => {
      const flags = command.opts<HistoryFlags>();
      const [{ workflowIdOfToken }, { eventsOf, findRun }] = await Promise.all([
        import('../workflow-id.js'),
        import('../history/run-history.js'),
      ]);
      const workflowId = await workflowIdOfToken(client, settings, token, flags);
      const run = await findRun(client, workflowId, flags.run).catch((error: unknown) => {
        throw notFound(error, token, flags.run);
      });
      const events = eventsOf(client, run, flags.follow === true);
      if (flags.output !== undefined) await write(flags.output, run, events);
      else await show(client, events, flags, isJson(command));
    }),
  );
}

async function show(
  client: Client,
  events: AsyncIterable<HistoryEvent>,
  { all = false, payloads = false }: HistoryFlags,
  json: boolean,
): Promise<void> {
  const [{ describedEvents }, { isRoutine }, { eventLines }] = await Promise.all([
    import('../history/run-history.js'),
    import('../history/described-event.js'),
    import('../history/event-line.js'),
  ]);
  for await (const event of describedEvents(client, events, payloads)) {
    if (json) printJson(event);
    else if (all || !isRoutine(event)) for (const line of eventLines(event)) print(line);
  }
}

/** Writes the history as Temporal's own tools do. The file is private: it has all arguments and results. */
async function write(path: string, { workflowId, runId }: Run, events: AsyncIterable<HistoryEvent>) {
  const { historyToJSON } = await import('../../platform/temporal/internal/history-json.js');
  const all: HistoryEvent[] = [];
  for await (const event of events) all.push(event);
  const text = `${historyToJSON({ events: all })}\n`;
  try {
    writeFileSync(path, path.endsWith('.gz') ? gzipSync(text) : text, { mode: 0o600 });
  } catch (error) {
    throw new CommandFailure(
      `--output: expected a file that can be written; ${(error as Error).message}`,
      EXIT.usage,
    );
  }
  say(
    `${path}: ${all.length} events of ${workflowId}, run ${runId}, with arguments and results; replay it with: longhaul replay ${path}`,
  );
}

function notFound(error: unknown, token: string, runId: string | undefined): unknown {
  if ((error as Error).name !== 'WorkflowNotFoundError') return error;
  return new CommandFailure(`${token}: Temporal has no run ${runId} of it`, EXIT.notFound);
}

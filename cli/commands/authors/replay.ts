import { existsSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { Client } from '@temporalio/client';
import { isSealed, RunTokens } from '../../../engine/external/run-tokens.js';
import { listApiKeys } from '../../../mcp-server/auth/key-store.js';
import { counted } from '../../../operations/json/counted.js';
import { principalOf } from '../../../operations/principal.js';
import { ANONYMOUS } from '../../../operations/wire/index.js';
import { loadSecret } from '../../../platform/home/secret.js';
import { createLogger } from '../../../platform/observe/log.js';
import type { Settings } from '../../../platform/settings/index.js';
import { findWorkflow } from '../../../platform/temporal/find-workflow.js';
import { GRPC, isGrpcError, temporalMessage } from '../../../platform/temporal/grpc-errors.js';
import { addJsonFlag, isJson, runReporting, wholeNumber } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { addPrincipalFlags, principalOfFlags, type PrincipalFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { loadTools } from '../../load-tools.js';
import {
  findOperation,
  historiesOf,
  historiesOfQuery,
  type FoundOperation,
  type SelectedHistory,
} from '../../replay/histories.js';
import { linesOf, Replays, type Report } from '../../replay/replays.js';
import { settingsOf } from '../../settings-flags.js';
import { withTemporal } from '../../with-temporal.js';

const DEFAULT_LIMIT = 100;
const DEFAULT_TIMEOUT_SECONDS = 60;
/** Default port of Node.js's inspector. */
const INSPECT_PORT = 9_229;

const HELP = `
Runs the code of this build, Longhaul's workflows and the project's, over histories as a worker does that takes over an open
workflow, and reports whether each still fits. If not: the event, what the history has, what the code did instead, and the
function that did it. Nothing is changed, and no activity runs.

  longhaul replay TOKEN        an operation, with its child workflows and the earlier runs that it continues
  longhaul replay FILE         a history from 'temporal workflow show --output json' or Temporal's UI, also .gz
  longhaul replay --query "WorkflowType='pipeline' AND ExecutionStatus='Running'"

Exit code: 0 when all histories fit, 1 when one doesn't, 2 for wrong usage, 3 when Temporal can't be reached, 4 when it has no
such workflow.`;

interface ReplayFlags extends PrincipalFlags {
  query?: string;
  limit: number;
  timeoutSeconds: number;
  inspect?: number | true;
}

export function define(command: Command): void {
  command
    .argument('[targets...]', 'tokens or workflow IDs of operations, or files with histories')
    .option('--query <query>', "workflows that this query of Temporal's visibility finds")
    .option('--limit <number>', 'maximum number of histories from Temporal', wholeNumber, DEFAULT_LIMIT)
    .option('--timeout-seconds <number>', 'time-out of each replay', wholeNumber, DEFAULT_TIMEOUT_SECONDS)
    .option(
      '--inspect [port]',
      `wait for a debugger, which stops before each replay (default port: ${INSPECT_PORT})`,
      portNumber,
    );
  addPrincipalFlags(command, 'whose tokens they are');
  addJsonFlag(command).addHelpText('after', HELP);
  runReporting(command, (targets: string[]) => replay(command, targets));
}

async function replay(command: Command, targets: readonly string[]): Promise<void> {
  const flags = command.opts<ReplayFlags>();
  if (targets.length > 0 === (flags.query !== undefined))
    throw usageFailure(
      'expected tokens or files, or --query; got ' + (flags.query ? 'both' : 'none of them'),
    );
  const reports: Report[] = [];
  const show = (report: Report) => {
    reports.push(report);
    if (!isJson(command)) for (const line of linesOf(report)) print(line);
  };
  const isCut = await replayAll(await settingsOf(command), targets, flags, show);
  const ok = reports.every(({ fits }) => fits);
  if (isJson(command)) printJson({ ok, isLimited: isCut, histories: reports });
  else summarize(reports);
  if (isCut) say(`stopped after ${flags.limit} histories from Temporal; --limit takes more`);
  process.exitCode = ok ? EXIT.ok : EXIT.failed;
  // Watching the files of tools keeps the process alive.
  exitOnceWritten();
}

/** @returns whether the limit has left out histories */
async function replayAll(
  settings: Settings,
  targets: readonly string[],
  { query, limit, timeoutSeconds, inspect, ...caller }: ReplayFlags,
  show: (report: Report) => void,
): Promise<boolean> {
  const files = targets.filter(existsSync);
  const tokens = targets.filter((target) => !existsSync(target));
  const missing = tokens.find((token) => /\.json(\.gz)?$/.test(token));
  if (missing !== undefined)
    throw usageFailure(`${missing}: expected a file with a history; there is no such file`);
  const replays = await Replays.start(settings, timeoutSeconds, inspect === true ? INSPECT_PORT : inspect);
  try {
    for (const file of files) show(await replays.ofFile(file));
    if (query === undefined && tokens.length === 0) return false;
    return await withTemporal(settings, async (client) => {
      let left = limit;
      const showAll = async (histories: AsyncIterable<SelectedHistory>) => {
        for await (const selected of histories) {
          if (left-- === 0) return true;
          show(await replays.of(selected));
        }
        return false;
      };
      if (query !== undefined) return showAll(historiesOfQuery(client, query)).catch(asQueryFailure);
      for (const token of tokens) {
        const found = await findTarget(client, settings, token, caller);
        if (await showAll(historiesOf(found.client, found.workflowId))) return true;
      }
      return false;
    });
  } finally {
    await replays.close();
  }
}

function asQueryFailure(error: unknown): never {
  if (!isGrpcError(error, GRPC.invalidArgument)) throw error;
  throw usageFailure(`--query: expected a query of Temporal's visibility; got ${temporalMessage(error)}`);
}

/**
 * An operation by its token or workflow ID. Without a caller's name, the token may be any caller's with an API key of this home.
 *
 * @throws CommandFailure with the exit code `notFound`
 */
async function findTarget(
  client: Client,
  settings: Settings,
  target: string,
  caller: PrincipalFlags,
): Promise<FoundOperation> {
  const isNamed = caller.tenant !== undefined || caller.subject !== undefined;
  const principals = isNamed
    ? [principalOfFlags(caller)]
    : [...new Set([ANONYMOUS, ...listApiKeys(settings.keysFolder).map(principalOf)])];
  // Tools say in which namespace adopted runs are; no other token needs them.
  const tools = isSealed(target) ? await loadTools(settings, createLogger('replay', 'silent')) : undefined;
  const tokens = new RunTokens(loadSecret(settings.home), tools);
  const found = await findOperation(client, target, principals, tokens);
  if (found) return found;
  if (!isNamed && (await findWorkflow(client, target))) return { client, workflowId: target };
  const hint = isNamed ? '' : '; the token of a caller without an API key in this home needs --subject';
  throw new CommandFailure(
    `${target}: Temporal has no such operation, and there is no such file${hint}`,
    EXIT.notFound,
  );
}

/** @throws InvalidArgumentError */
function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('expected a port from 1 to 65535.');
  return port;
}

function summarize(reports: readonly Report[]): void {
  const misfits = reports.filter(({ fits }) => !fits).length;
  const histories = counted(reports.length, 'history', 'histories');
  if (reports.length === 0) print('nothing to replay: no workflow matches');
  else
    print(
      misfits === 0
        ? `${histories}: all fit`
        : `${histories}: ${misfits} ${misfits === 1 ? "doesn't" : "don't"} fit`,
    );
}

import { existsSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { Client } from '@temporalio/client';
import { counted } from '../../../operations/json/counted.js';
import type { Tools } from '../../../platform/project/tools.js';
import type { Settings } from '../../../platform/settings/index.js';
import type { FoundOperation, SelectedHistory } from '../../replay/histories.js';
import type { Report } from '../../replay/report.js';
import { isJson, wholeNumber, withErrorReporting } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { principalOfFlags } from '../../client/principal-flags.js';
import { exitOnceWritten, print, printJson, say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';

const DEFAULT_LIMIT = 100;
const DEFAULT_TIMEOUT_SECONDS = 60;
/** Default port of Node.js's inspector. */
const INSPECT_PORT = 9_229;
/** Limit for connecting to Temporal. */
const CONNECT_LIMIT_MS = 5_000;

const HELP = `
Runs the code of this build, Longhaul's workflows and the project's, over histories as a worker does that takes over an open
workflow, and reports whether each still fits. If not: the event, what the history has, what the code did instead, and the
function that did it. Nothing is changed, and no activity runs.

  longhaul replay TOKEN        an operation, with its child workflows and the earlier runs that it continues
  longhaul replay FILE         a history from 'temporal workflow show --output json' or Temporal's UI, also .gz
  longhaul replay --query "WorkflowType='pipeline' AND ExecutionStatus='Running'"

Exit code: 0 when all histories fit, 1 when one doesn't, 2 for wrong usage, 3 when Temporal can't be reached, 4 when it has no
such workflow.`;

interface ReplayFlags {
  query?: string;
  limit: number;
  timeoutSeconds: number;
  inspect?: number | true;
  tenant?: string;
  subject?: string;
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
    )
    .option('--tenant <name>', 'tenant of the caller whose tokens they are (default: default)')
    .option('--subject <name>', 'that caller; without it, callers without authentication')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action((targets: string[]) => withErrorReporting(command, () => replay(command, targets)));
}

async function replay(command: Command, targets: readonly string[]): Promise<void> {
  const flags = command.opts<ReplayFlags>();
  if (targets.length > 0 === (flags.query !== undefined))
    throw usageFailure(
      'expected tokens or files, or --query; got ' + (flags.query ? 'both' : 'none of them'),
    );
  const settings = await settingsOf(command);
  const reports: Report[] = [];
  const show = async (report: Report) => {
    reports.push(report);
    if (isJson(command)) return;
    const { linesOf } = await import('../../replay/report.js');
    for (const line of linesOf(report)) print(line);
  };
  const isCut = await replayAll(settings, targets, flags, show);
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
  show: (report: Report) => Promise<void>,
): Promise<boolean> {
  const [{ Replays }, { historiesOf, historiesOfQuery }] = await Promise.all([
    import('../../replay/replays.js'),
    import('../../replay/histories.js'),
  ]);
  const files = targets.filter(isFile);
  const tokens = targets.filter((target) => !isFile(target));
  const missing = tokens.find((token) => /\.json(\.gz)?$/.test(token));
  if (missing !== undefined)
    throw usageFailure(`${missing}: expected a file with a history; there is no such file`);
  const replays = await Replays.start(settings, timeoutSeconds, inspect === true ? INSPECT_PORT : inspect);
  try {
    for (const file of files) await show(await replays.ofFile(file));
    if (query === undefined && tokens.length === 0) return false;
    return await withTemporal(settings, async (client) => {
      let left = limit;
      const showAll = async (histories: AsyncIterable<SelectedHistory>) => {
        for await (const selected of histories) {
          if (left-- === 0) return true;
          await show(await replays.of(selected));
        }
        return false;
      };
      if (query !== undefined) return showAll(historiesOfQuery(client, query));
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

/**
 * An operation by its token or workflow ID. Without a caller's name, the token may be any caller's with an API key of this home.
 *
 * @throws CommandFailure with the exit code `notFound`
 */
async function findTarget(
  client: Client,
  settings: Settings,
  target: string,
  caller: { tenant?: string; subject?: string },
): Promise<FoundOperation> {
  const [{ findOperation }, { isSealed, RunTokens }, { loadSecret }, { findWorkflow }] = await Promise.all([
    import('../../replay/histories.js'),
    import('../../../engine/external/run-tokens.js'),
    import('../../../platform/home/secret.js'),
    import('../../../platform/temporal/find-workflow.js'),
  ]);
  const isNamed = caller.tenant !== undefined || caller.subject !== undefined;
  const principals = isNamed ? [await principalOfFlags(caller)] : await knownPrincipals(settings);
  // Tools say in which namespace adopted runs are; no other token needs them.
  const tools = isSealed(target) ? await toolsOf(settings) : undefined;
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

async function knownPrincipals({ keysFolder }: Settings): Promise<string[]> {
  const [{ listApiKeys }, { principalOf }, { ANONYMOUS }] = await Promise.all([
    import('../../../mcp-server/auth/key-store.js'),
    import('../../../operations/principal.js'),
    import('../../../operations/wire/index.js'),
  ]);
  return [...new Set([ANONYMOUS, ...listApiKeys(keysFolder).map(principalOf)])];
}

async function toolsOf(settings: Settings): Promise<Tools> {
  const [{ loadTools }, { createLogger }] = await Promise.all([
    import('../../load-tools.js'),
    import('../../../platform/observe/log.js'),
  ]);
  return loadTools(settings, createLogger('replay', 'silent'));
}

/** @throws InvalidArgumentError */
function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('expected a port from 1 to 65535.');
  return port;
}

function isFile(target: string): boolean {
  return existsSync(target);
}

async function withTemporal<T>(settings: Settings, work: (client: Client) => Promise<T>): Promise<T> {
  const [
    { Client },
    { connectTemporal },
    { createLogger },
    { dataConverterOf },
    { readableMemos },
    { openStorage },
    errors,
  ] = await Promise.all([
    import('@temporalio/client'),
    import('../../../platform/temporal/connect.js'),
    import('../../../platform/observe/log.js'),
    import('../../../platform/temporal/data-converter.js'),
    import('../../../platform/temporal/memo.js'),
    import('../../../platform/storage/index.js'),
    import('../../../platform/temporal/grpc-errors.js'),
  ]);
  const { home } = settings;
  const limit = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const temporal = await connectTemporal(home, createLogger('replay', 'silent'), limit).catch(() => {
    throw new CommandFailure(
      `Temporal can't be reached: none runs in ${home}, and none at TEMPORAL_ADDRESS`,
      EXIT.unreachable,
    );
  });
  const { current: connection, namespace } = temporal;
  try {
    const dataConverter = dataConverterOf(openStorage(settings));
    const interceptors = { workflow: [readableMemos(dataConverter)] };
    return await work(new Client({ connection, namespace, dataConverter, interceptors }));
  } catch (error) {
    if (errors.isGrpcError(error, errors.GRPC.invalidArgument))
      throw usageFailure(
        `--query: expected a query of Temporal's visibility; got ${errors.temporalMessage(error)}`,
      );
    if (errors.isUnreachable(error) || errors.isDenied(error))
      throw new CommandFailure(errors.temporalMessage(error), EXIT.unreachable);
    throw error;
  } finally {
    await temporal.close();
  }
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

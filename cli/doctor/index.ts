/** The checks of `longhaul doctor`, one per function: each returns a finding with advice. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { delimiter, dirname, join, relative } from 'node:path';
import type { Client, Connection } from '@temporalio/client';
import {
  findConfigFile,
  loadSettings,
  SETTING_VARIABLES,
  settingValue,
  type SettingName,
  type Settings,
} from '../../platform/settings/index.js';
import type { Checks } from '../../platform/observe/health/checks.js';
import { checkWritable, readHomeFormat } from '../../platform/home/index.js';
import { nodeProblem } from '../../platform/home/package.js';
import { programCommand } from '../../platform/home/program.js';
import { settingFlag } from '../../platform/settings/flag.js';
import { usesExternalTemporal } from '../../platform/temporal/address.js';
import { reportDeployment } from '../../platform/temporal/deployment-report.js';
import { temporalMessage } from '../../platform/temporal/grpc-errors.js';
import { isPolling, pollersOf } from '../../platform/temporal/host-presence.js';
import {
  addSearchAttributes,
  keywordsLeft,
  OPTIONAL_ATTRIBUTES,
  unusableSearchAttributes,
} from '../../platform/temporal/search-attributes.js';
import { checkDatabaseFile } from '../../stack/temporal/database-check.js';
import { cliVersionFor, ownCopies } from '../../stack/temporal/binary.js';
import { settingConflicts } from '../../platform/settings/conflicts.js';
import { deploymentProblems } from './deployment-problems.js';
import { withTemporal } from '../with-temporal.js';
import { fail, ok, warn, type Finding } from './finding.js';
import { checkStorageOfWorkers } from './storage-check.js';
import { databaseMadeBy, databasePath, readTemporalVersion } from '../../stack/temporal/version.js';
import { findContainment } from '../../worker/steps/containment.js';

const ANSWER_LIMIT_MS = 5_000;
/** Less free space makes the disk check fail, or warn. */
const [DISK_FAIL_BYTES, DISK_WARN_BYTES] = [200 * 1024 ** 2, 2 * 1024 ** 3];

export function checkNode(): Finding {
  const problem = nodeProblem();
  const detail = `Node ${process.versions.node}`;
  return problem === undefined ? ok('node', detail) : fail('node', detail, problem);
}

/** Whether this user's stack can use the home. The first stack creates a missing one. */
export function checkHome({ home }: Settings): Finding {
  const check = 'home';
  try {
    checkWritable(home);
    const written = readHomeFormat(home);
    const note = written ? `, of Longhaul ${written.longhaul}` : existsSync(home) ? '' : ', not created yet';
    return ok(check, `${home}${note}`);
  } catch (error) {
    return fail(check, (error as Error).message);
  }
}

/** Lists the settings that aren't defaults, with their sources, then settings that contradict or undo each other. */
export async function checkSettings(settings: Settings, flags: Record<string, unknown>): Promise<Finding[]> {
  const workingFolder = process.cwd();
  const path = findConfigFile(flags['project'] ?? process.env[SETTING_VARIABLES.project], workingFolder);
  const folder = path === undefined ? workingFolder : dirname(path);
  const file = path === undefined ? undefined : relative(workingFolder, path);
  const elsewhere = await loadSettings({}, {}, join(folder, 'no-such-folder'));
  const withoutFile = { ...elsewhere, project: folder, dataFolders: [folder] };
  const withFile = file === undefined ? withoutFile : await loadSettings({}, {}, folder);
  const sourceOf = (name: SettingName): string | undefined => {
    if (flags[name] !== undefined) return settingFlag(name);
    if (process.env[SETTING_VARIABLES[name]]) return SETTING_VARIABLES[name];
    return JSON.stringify(settingValue(withFile, name)) === JSON.stringify(settingValue(withoutFile, name))
      ? undefined
      : file;
  };
  const described = (Object.keys(SETTING_VARIABLES) as SettingName[]).flatMap((name) => {
    const source = sourceOf(name);
    return source === undefined ? [] : [`${name} ${String(settingValue(settings, name))} (${source})`];
  });
  return [
    ok('settings', described.join(', ') || 'all defaults'),
    ...settingConflicts(settings).map((conflict) => fail('settings', conflict)),
  ];
}

/** Whether the embedded server's binary exists, and fits the database. */
export async function checkBinary({ binFolder, home }: Settings): Promise<Finding> {
  const check = 'temporal binary';
  if (usesExternalTemporal()) return ok(check, 'not needed: the environment names a Temporal');
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const made = databaseMadeBy(home);
  const madeBy = made?.server;
  const database = made && { path: databasePath(home), madeBy: made };
  const paths = [
    ...ownCopies({ binFolder, database }),
    ...folders.map((folder) => join(folder, 'temporal')),
  ].filter(existsSync);
  const advice = `${programCommand()} up gets one; or put the Temporal CLI on PATH, or set TEMPORAL_ADDRESS`;
  const isObtainable = cliVersionFor(made) !== undefined;
  if (paths.length === 0 && isObtainable) return warn(check, `none in ${binFolder} or on PATH`, advice);
  const seen: string[] = [];
  for (const path of paths) {
    try {
      const { server } = await readTemporalVersion(path);
      if (madeBy === undefined || madeBy === server) {
        const detail = `${path}, server ${server}${madeBy ? `; database made by ${madeBy}` : ''}`;
        return ok(check, detail);
      }
      seen.push(`${path}, server ${server}`);
    } catch (error) {
      seen.push(`${path}: ${(error as Error).message}`);
    }
  }
  const detail = [...seen, ...(madeBy ? [`database made by ${madeBy}`] : [])].join('; ');
  if (madeBy !== undefined && isObtainable) return warn(check, detail, advice);
  return fail(
    check,
    detail,
    madeBy === undefined
      ? advice
      : `put a temporal with server ${madeBy} on PATH, or move temporal.db* and temporal.version out of ${home} (its operations are lost)`,
  );
}

/** Checks the embedded server's database without changing it. */
export async function checkDatabase({ home }: Settings): Promise<Finding> {
  const check = 'database';
  if (usesExternalTemporal()) return ok(check, 'not needed: the environment names a Temporal');
  const path = databasePath(home);
  const advice =
    `end the stack, then restore temporal.db* and temporal.version in ${home} from a backup, or move them out of it ` +
    'to start with an empty database (its operations are lost)';
  try {
    const checked = await checkDatabaseFile(home);
    if (!checked) return ok(check, `none yet in ${home}`);
    const { bytes, problems } = checked;
    return problems.length
      ? fail(check, `${path}: ${problems.join('; ')}`, advice)
      : ok(check, `${path}, ${(bytes / 1024 ** 2).toFixed(1)} MiB, intact`);
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'DamagedDatabase') return fail(check, `${path}: ${message}`, advice);
    return warn(check, `${path} can't be checked: ${message}`);
  }
}

/** Whether Temporal answers, has the search attributes, and is polled by a worker. @param fix create missing attributes */
export async function checkTemporal(settings: Settings, fix: boolean): Promise<Finding[]> {
  const check = 'temporal';
  const { taskQueue } = settings;
  const examine = async (client: Client): Promise<Finding[]> => {
    const { connection, workflowService } = client;
    const { namespace } = client.options;
    const { serverVersion } = await workflowService.getSystemInfo({});
    await workflowService.describeNamespace({ namespace });
    const { address } = (connection as Connection).options;
    const pollers = await pollersOf(client, taskQueue, 'workflows');
    return [
      ok(check, `${address}, server ${serverVersion}, namespace ${namespace}`),
      await checkSearchAttributes(connection as Connection, namespace, settings, fix),
      workerFinding(taskQueue, pollers.filter(isPolling).length),
      ...(await checkStorageOfWorkers(client, settings)),
      ...(await checkDeployment(client, taskQueue)),
    ];
  };
  try {
    return await withTemporal(settings, (client) =>
      client.withDeadline(Date.now() + ANSWER_LIMIT_MS, () => examine(client)),
    );
  } catch (error) {
    const advice = `start it, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; ${programCommand()} up starts one`;
    return [fail(check, (error as Error).message, advice)];
  }
}

/** Whether lists work. Missing search attributes are only a warning: everything else works without them. */
async function checkSearchAttributes(
  { workflowService, operatorService }: Connection,
  namespace: string,
  settings: Settings,
  fix: boolean,
): Promise<Finding> {
  const check = 'search attributes';
  if (settings.searchAttributes === 'off') return ok(check, 'off by the settings: no lists of operations');
  let refusal = '';
  try {
    if (fix && (await addSearchAttributes(operatorService, namespace)))
      return ok(check, 'created; Temporal may take up to a minute until lists work');
  } catch (error) {
    refusal = `can't be created: ${temporalMessage(error)}; `;
  }
  try {
    const unusable = await unusableSearchAttributes(workflowService, namespace);
    const room = await keywordsLeft(operatorService, namespace).catch(() => undefined);
    const left = room ? `; room for ${room.left} more keywords of ${room.limit}` : '';
    if (unusable.length === 0) return ok(check, `in place${left}`);
    const names = unusable.map(({ name }) => name);
    const reasons = unusable.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
    const areOptional = names.every((name) => OPTIONAL_ATTRIBUTES.includes(name));
    const detail = `${refusal}no lists of operations${areOptional ? ' by these' : ''}. ${reasons}${left}`;
    const advice = `${programCommand()} doctor --fix, with an operator's rights; or ${creationCommands(names, namespace)}`;
    return { check, status: areOptional ? 'ok' : 'warn', detail, advice };
  } catch (error) {
    return warn(check, `visibility can't be read: ${temporalMessage(error)}`);
  }
}

/** Commands that create search attributes, with Temporal's CLI and Temporal Cloud's. */
function creationCommands(names: readonly string[], namespace: string): string {
  const own = names.flatMap((name) => ['--name', name, '--type', 'Keyword']).join(' ');
  const cloud = names.map((name) => `--search-attribute "${name}=Keyword"`).join(' ');
  return (
    `temporal operator search-attribute create --namespace ${namespace} ${own}; ` +
    `on Temporal Cloud, tcld namespace search-attributes add --namespace ${namespace} ${cloud}`
  );
}

function workerFinding(taskQueue: string, count: number): Finding {
  const check = 'worker';
  return count > 0
    ? ok(check, `${count} polling the task queue ${taskQueue}`)
    : fail(
        check,
        `none polls the task queue ${taskQueue}`,
        `run ${programCommand()} up or ${programCommand()} worker, with the same --task-queue as the server`,
      );
}

/** Whether operations have workers of the builds that they need; empty for unversioned workers. */
async function checkDeployment(client: Client, taskQueue: string): Promise<Finding[]> {
  const check = 'deployment';
  try {
    const report = await reportDeployment(client, taskQueue);
    const { deployment } = report;
    if (!deployment) return [];
    const problems = deploymentProblems(report, client.options.namespace);
    if (problems.length > 0) return problems.map(({ detail, advice }) => fail(check, detail, advice));
    const older = report.versions.filter(
      ({ buildId, openOperations }) => openOperations > 0 && buildId !== deployment.current,
    );
    const rest = older
      .map(({ buildId, openOperations }) => `, ${openOperations} open on ${buildId}`)
      .join('');
    return [ok(check, `${deployment.deploymentName}, current build ${deployment.current ?? 'none'}${rest}`)];
  } catch (error) {
    return [warn(check, `builds of workers can't be read: ${temporalMessage(error)}`)];
  }
}

/** Reads the server's health from /healthz and /readyz beside the MCP endpoint. */
export async function checkServer(url: URL): Promise<Finding[]> {
  const read = async (path: string) => {
    const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return {
      status: response.status,
      body: (await response.json()) as { tools?: string[]; missing?: string[]; checks?: Checks },
    };
  };
  try {
    const health = await read('/healthz');
    if (health.status !== 200) throw new Error(`/healthz answered ${health.status}`);
  } catch (error) {
    const { cause, message } = error as Error;
    const detail = `${url.href}: ${(cause as Error | undefined)?.message ?? message}`;
    return [fail('server', detail, `run ${programCommand()} up, or name the right one with --url`)];
  }
  const server = ok('server', url.href);
  try {
    const { status, body } = await read('/readyz');
    const warnings = Object.entries(body.checks ?? {}).flatMap(
      ([check, { status: of, reason }]): Finding[] => (of === 'warning' ? [warn(check, reason ?? '')] : []),
    );
    if (status === 200) {
      const detail = body.tools ? `${body.tools.length} tools` : 'callers are authenticated';
      return [server, ok('ready', detail), ...warnings];
    }
    const detail = body.missing?.join('; ') || `/readyz answered ${status}`;
    return [server, fail('ready', detail, 'see the other lines, and the log of the server'), ...warnings];
  } catch (error) {
    return [server, fail('ready', (error as Error).message, 'see the log of the server')];
  }
}

export async function checkDisk({ home }: Settings): Promise<Finding> {
  let folder = home;
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const bytes = bavail * bsize;
  const detail = `${(bytes / 1024 ** 3).toFixed(1)} GiB free at ${home}`;
  if (bytes >= DISK_WARN_BYTES) return ok('disk', detail);
  const advice = 'make room, or move --home to a larger disk';
  return (bytes < DISK_FAIL_BYTES ? fail : warn)('disk', detail, advice);
}

/** Whether hidden processes of pipeline steps end with their step on this host. A worker with another PATH or cgroup may differ. */
export async function checkStepProcesses(): Promise<Finding> {
  const check = 'step processes';
  const { cgroups, subreaper } = await findContainment(process.env['PATH'] ?? '');
  if (cgroups) return ok(check, `each step has a cgroup below ${cgroups}`);
  if (subreaper) return ok(check, `launchers are subreapers, by ${subreaper[0]}`);
  const detail = 'a process that leaves the session of its step and clears its environment outlives the step';
  const advice =
    process.platform === 'linux'
      ? 'put perl or python3 on the PATH of the workers, or give them a cgroup to write to (systemd: Delegate=yes)'
      : 'only Linux shows such processes';
  return warn(check, detail, advice);
}

/**
 * Finds, downloads or builds the Temporal CLI with the embedded server: the pinned version, or the one that made the database,
 * because Temporal has no migrations of SQLite databases.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { OLDEST_SERVER } from '../../platform/temporal/address.js';
import { buildWithGo, downloadTemporal } from './install.js';
import { readTemporalVersion, type TemporalVersion } from './version.js';
import { messageOf, StackError, type Say } from '../stack-error.js';

/** Versions of the Temporal CLI and its server that Longhaul is tested with. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
export const TEMPORAL_SERVER_VERSION = '1.29.1';

export interface TemporalBinary {
  path: string;
  version: TemporalVersion;
}

export interface BinarySearch {
  /** Caches the binary for all runs and homes. */
  binFolder: string;
  /** The database to open. Skips binaries with another server version than `madeBy`. */
  database?: { path: string; madeBy: TemporalVersion } | undefined;
  /** Source of PATH. Default: `process.env`. */
  environment?: NodeJS.ProcessEnv;
  /** Replaces the network in tests. Default: the global `fetch`. */
  fetch?: typeof fetch;
}

export function cachedBinaryPath(binFolder: string, cliVersion: string = TEMPORAL_CLI_VERSION): string {
  return join(binFolder, `temporal-${cliVersion}`);
}

/** CLI version that can open the database; undefined if that isn't known, or its server is too old for Longhaul. */
export function cliVersionFor(madeBy: TemporalVersion | undefined): string | undefined {
  if (!madeBy || madeBy.server === TEMPORAL_SERVER_VERSION) return TEMPORAL_CLI_VERSION;
  return isOlder(madeBy.server, OLDEST_SERVER) ? undefined : madeBy.cli;
}

/** Longhaul's own copies that could open the database: in the bin folder, and in the home's. */
export function ownCopies({ binFolder, database }: Pick<BinarySearch, 'binFolder' | 'database'>): string[] {
  const cliVersion = cliVersionFor(database?.madeBy) ?? TEMPORAL_CLI_VERSION;
  const folders = [binFolder, ...(database ? [join(dirname(database.path), 'bin')] : [])];
  return [...new Set(folders.map((folder) => cachedBinaryPath(resolve(folder), cliVersion)))];
}

/**
 * Finds, downloads or builds a Temporal CLI whose server can open the database.
 *
 * @throws StackError that lists every place tried, why it failed, and what to install
 */
export async function findTemporalBinary(search: BinarySearch, say: Say): Promise<TemporalBinary> {
  const { database } = search;
  const failures: string[] = [];
  const found =
    (await first(stepsThere(search), failures)) ?? (await first(stepsToGet(search, say), failures));
  if (!found) throw new StackError(database ? notHad(database, failures) : nothingFound(failures));
  if (database && found.version.server !== TEMPORAL_SERVER_VERSION) say(otherVersion(database, found));
  return found;
}

type Step = [place: string, attempt: () => Promise<TemporalBinary>];

async function first(steps: readonly Step[], failures: string[]): Promise<TemporalBinary | undefined> {
  for (const [place, attempt] of steps) {
    try {
      return await attempt();
    } catch (error) {
      failures.push(`  - ${place}: ${messageOf(error)}`);
    }
  }
  return undefined;
}

function stepsThere({ environment = process.env, ...search }: BinarySearch): Step[] {
  const madeBy = search.database?.madeBy.server;
  return [
    ...ownCopies(search).map((path): Step => [
      `Longhaul's own copy, ${path}`,
      async () => requireServer(await readBinary(path), madeBy),
    ]),
    ['temporal on PATH', () => onPath(environment, madeBy)],
  ];
}

function stepsToGet({ binFolder, database, environment, fetch: get }: BinarySearch, say: Say): Step[] {
  const version = cliVersionFor(database?.madeBy);
  if (version === undefined) return [];
  const path = cachedBinaryPath(binFolder, version);
  const read = async () => requireServer(await readBinary(path), database?.madeBy.server);
  const program = {
    name: 'Temporal CLI',
    path: 'github.com/temporalio/cli/cmd/temporal',
    version,
    duration: '4 to 5 minutes',
  };
  return [
    [
      `the official download of Temporal CLI ${version}`,
      async () => {
        await downloadTemporal(version, path, say, get);
        return read();
      },
    ],
    [
      `a build of Temporal CLI ${version} with Go`,
      async () => {
        await buildWithGo(program, path, say, environment ?? process.env);
        return read();
      },
    ],
  ];
}

function nothingFound(failures: readonly string[]): string {
  return [
    'no Temporal to run. Tried, in this order:',
    ...failures,
    'Install the Temporal CLI (https://docs.temporal.io/cli/setup-cli) so that `temporal` is on PATH, or Go ' +
      '(https://go.dev/dl) so that it can be built, or point TEMPORAL_ADDRESS at a Temporal that runs already.',
  ].join('\n');
}

type Database = NonNullable<BinarySearch['database']>;

function otherVersion({ path, madeBy }: Database, found: TemporalBinary): string {
  return (
    `The database was made by Temporal server ${madeBy.server}, and Temporal doesn't convert databases: it continues with ${found.path}, not ` +
    `with server ${TEMPORAL_SERVER_VERSION}. To move to that, wait until no operation is open, end the stack, and move temporal.db* ` +
    `and temporal.version out of ${dirname(path)}: finished operations can't be read there any more.`
  );
}

function notHad({ path, madeBy }: Database, failures: readonly string[]): string {
  const cliVersion = cliVersionFor(madeBy);
  const cli = cliVersion === undefined ? '' : ` (Temporal CLI ${cliVersion})`;
  return [
    `the database ${path} was made by Temporal server ${madeBy.server}${cli}, and no \`temporal\` with that server can be had; ` +
      `Longhaul's is server ${TEMPORAL_SERVER_VERSION}, and Temporal doesn't convert databases. Nothing was changed. Either put a ` +
      `\`temporal\` with server ${madeBy.server} on PATH, or start with an empty database (its operations are lost): move ` +
      `temporal.db* and temporal.version out of ${dirname(path)}, or choose another folder with LONGHAUL_HOME or --home.`,
    'Tried:',
    ...failures,
  ].join('\n');
}

async function readBinary(path: string): Promise<TemporalBinary> {
  accessExecutable(path);
  return { path, version: await readTemporalVersion(path) };
}

async function onPath(environment: NodeJS.ProcessEnv, madeBy: string | undefined): Promise<TemporalBinary> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, 'temporal');
    try {
      accessExecutable(path);
    } catch {
      continue;
    }
    const binary = await readBinary(path);
    const { server } = binary.version;
    if (isOlder(server, OLDEST_SERVER)) {
      throw new Error(`${path} carries server ${server}; ${OLDEST_SERVER} or newer is needed`);
    }
    return requireServer(binary, madeBy);
  }
  throw new Error('not found');
}

function requireServer(binary: TemporalBinary, madeBy: string | undefined): TemporalBinary {
  const { path, version } = binary;
  if (madeBy && version.server !== madeBy)
    throw new Error(`${path} carries server ${version.server}; the database was made by ${madeBy}`);
  return binary;
}

function accessExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EACCES';
    throw new Error(isThere ? 'is not executable' : 'not found', { cause: error });
  }
}

function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = b.findIndex((part, index) => (a[index] ?? 0) !== part);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

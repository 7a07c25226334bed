/**
 * Finds, downloads or builds the Temporal CLI with the embedded server. The version is pinned, because only the server version
 * that made a database can open it.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { OLDEST_SERVER } from '../../platform/temporal/oldest-server.js';
import { buildWithGo, downloadTemporal } from './install.js';
import { readTemporalVersion, type TemporalVersion } from './version.js';
import { messageOf, StackError, type Say } from '../stack-error.js';

/** Versions of the Temporal CLI and its server that Longhaul is tested with. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
export const TEMPORAL_SERVER_VERSION = '1.29.1';
const TEMPORAL_CLI = {
  name: 'Temporal CLI',
  path: 'github.com/temporalio/cli/cmd/temporal',
  version: TEMPORAL_CLI_VERSION,
  duration: '4 to 5 minutes',
};

export interface TemporalBinary {
  path: string;
  version: TemporalVersion;
}

export interface BinarySearch {
  /** Caches the binary for all runs and homes. */
  binFolder: string;
  /** The database to open. Skips binaries with another server version than `madeBy`. */
  database?: { path: string; madeBy: string } | undefined;
  /** Source of PATH. Default: `process.env`. */
  environment?: NodeJS.ProcessEnv;
  /** Replaces the network in tests. Default: the global `fetch`. */
  fetch?: typeof fetch;
}

export function cachedBinaryPath(binFolder: string): string {
  return join(binFolder, `temporal-${TEMPORAL_CLI_VERSION}`);
}

/**
 * Finds, downloads or builds a Temporal CLI whose server can open the database.
 *
 * @throws StackError that lists every place tried, why it failed, and what to install
 */
export async function findTemporalBinary(search: BinarySearch, say: Say): Promise<TemporalBinary> {
  const cached = cachedBinaryPath(search.binFolder);
  const environment = search.environment ?? process.env;
  const { database } = search;
  const there: Step[] = [
    [`Longhaul's own copy, ${cached}`, async () => requireServer(await readBinary(cached), database?.madeBy)],
    ['temporal on PATH', () => onPath(environment, database?.madeBy)],
  ];
  const toGet: Step[] = [
    [
      `the official download of Temporal CLI ${TEMPORAL_CLI_VERSION}`,
      async () => {
        await downloadTemporal(TEMPORAL_CLI_VERSION, cached, say, search.fetch);
        return requireServer(await readBinary(cached), database?.madeBy);
      },
    ],
    [
      `a build of Temporal CLI ${TEMPORAL_CLI_VERSION} with Go`,
      async () => {
        await buildWithGo(TEMPORAL_CLI, cached, say, environment);
        return requireServer(await readBinary(cached), database?.madeBy);
      },
    ],
  ];
  const failures: string[] = [];
  const first = async (steps: Step[]) => {
    for (const [place, attempt] of steps) {
      try {
        return await attempt();
      } catch (error) {
        failures.push(`  - ${place}: ${messageOf(error)}`);
      }
    }
    return undefined;
  };
  const found = await first(there);
  if (found) return found;
  if (database && database.madeBy !== TEMPORAL_SERVER_VERSION)
    throw new StackError([otherVersion(database), 'Tried:', ...failures].join('\n'));
  const got = await first(toGet);
  if (got) return got;
  throw new StackError(
    [
      'no Temporal to run. Tried, in this order:',
      ...failures,
      'Install the Temporal CLI (https://docs.temporal.io/cli/setup-cli) so that `temporal` is on PATH, or Go ' +
        '(https://go.dev/dl) so that it can be built, or point TEMPORAL_ADDRESS at a Temporal that runs already.',
    ].join('\n'),
  );
}

type Step = [place: string, attempt: () => Promise<TemporalBinary>];

function otherVersion({ path, madeBy }: { path: string; madeBy: string }): string {
  const home = dirname(path);
  return (
    `the database ${path} was made by Temporal server ${madeBy}, and no \`temporal\` with that server is here; Longhaul gets server ` +
    `${TEMPORAL_SERVER_VERSION}, which can't read it. Either put a \`temporal\` with server ${madeBy} on PATH, or start with an ` +
    `empty database (its operations are lost): move temporal.db* and temporal.version out of ${home}, or choose another ` +
    `folder with LONGHAUL_HOME or --home.`
  );
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

/** Temporal's production server on PostgreSQL, with standard visibility, on free ports of loopback. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { loadSettings } from '../../platform/settings/index.js';
import {
  SEARCH_ATTRIBUTE_NAMES,
  unusableSearchAttributes,
} from '../../platform/temporal/search-attributes.js';
import { launch, type Launched } from '../../stack/launcher.js';
import { logPath, logTail } from '../../stack/log-files.js';
import { findTemporalBinary } from '../../stack/temporal/binary.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { installGoProgram } from '../support/go-programs.js';
import { STACK_MS } from '../support/limits.js';
import type { Postgres } from './postgres.js';

const VERSION = '1.31.2';
const SERVER = { name: "Temporal's server", path: 'go.temporal.io/server/cmd/server', duration: '5 minutes' };
const SQL_TOOL = {
  name: "Temporal's SQL tool",
  path: 'go.temporal.io/server/cmd/tools/sql',
  duration: '1 minute',
};
const LOG = 'temporal';
const PLUGIN = 'postgres12';
/** Databases with the schemas that are part of the SQL tool. */
const DATABASES = { temporal: 'temporal', temporal_visibility: 'visibility' };
const NAMESPACE = 'default';
/** Features that the server has and leaves off. */
const DYNAMIC_CONFIG = { 'frontend.WorkflowPauseEnabled': [{ value: true }] };
const STOP_LIMIT_MS = 10_000;

export interface TemporalServer {
  /** `host:port` of the frontend, without TLS, for operators. */
  address: string;
  stop(): Promise<void>;
}

/** The program in the binary folder. */
async function findProgram(program: typeof SERVER): Promise<string> {
  const { binFolder } = await loadSettings();
  const target = join(binFolder, `temporal-${program.path.split('/').pop()}-${VERSION}`);
  return installGoProgram({ ...program, version: VERSION }, target);
}

/** Builds the programs, unless they are in the binary folder. Fails where Go or its module proxy is missing. */
export async function preparePrograms(): Promise<{ server: string; sqlTool: string }> {
  return { server: await findProgram(SERVER), sqlTool: await findProgram(SQL_TOOL) };
}

/**
 * Creates the databases, starts the server, and creates the namespace `default` with Longhaul's search attributes, all by the
 * commands that an operator uses. When the server ends by itself, e.g. by a test's kill, it is started again on the same ports.
 *
 * @param pidFile gets the PID of the running server
 */
export async function startTemporalServer(
  folder: string,
  postgres: Postgres,
  pidFile: string,
): Promise<TemporalServer> {
  const { server, sqlTool } = await preparePrograms();
  createDatabases(sqlTool, postgres);
  const port = await freePort();
  const config = join(folder, 'temporal.yaml');
  const dynamicConfig = join(folder, 'dynamic.yaml');
  writeFileSync(dynamicConfig, stringify(DYNAMIC_CONFIG));
  const dynamicConfigClient = { filepath: dynamicConfig, pollInterval: '1m' };
  const configured = { ...(await configuration(postgres, port)), dynamicConfigClient };
  writeFileSync(config, stringify(configured), { mode: 0o600 });
  const start = async () => {
    const command = [server, '--config-file', config, '--allow-no-auth', 'start'];
    const started = await launch(command, { home: folder, log: LOG, environment: process.env });
    writeFileSync(pidFile, String(started.pid));
    return started;
  };
  let running: Launched = await start();
  let isStopping = false;
  const supervised = (async () => {
    while (!isStopping) {
      const { how } = await running.exited;
      if (isStopping) return;
      console.log(`Temporal ended with ${how}; starting it again`);
      await delay(500);
      running = await start();
    }
  })();
  const stop = async () => {
    isStopping = true;
    await running.stop(STOP_LIMIT_MS);
    await supervised;
  };
  const address = `127.0.0.1:${port}`;
  try {
    await createNamespace(address);
  } catch (error) {
    await stop();
    const lines = logTail(folder, LOG, 0).map((line) => `\n  ${line}`);
    throw new Error(`Temporal did not start; its log ${logPath(folder, LOG)} ends with${lines.join('')}`, {
      cause: error,
    });
  }
  return { address, stop };
}

function createDatabases(sqlTool: string, postgres: Postgres): void {
  const environment = {
    ...process.env,
    SQL_PLUGIN: PLUGIN,
    SQL_HOST: '127.0.0.1',
    SQL_PORT: String(postgres.port),
    SQL_USER: postgres.user,
    SQL_PASSWORD: postgres.password,
  };
  for (const [database, schema] of Object.entries(DATABASES))
    for (const command of [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ])
      execFileSync(sqlTool, ['--db', database, ...command], { env: environment, stdio: 'pipe' });
}

/** All four services in one process, with the server's defaults for everything but {@link DYNAMIC_CONFIG}. */
async function configuration(postgres: Postgres, frontendPort: number): Promise<object> {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: PLUGIN,
      databaseName,
      connectAddr: postgres.address,
      connectProtocol: 'tcp',
      user: postgres.user,
      password: postgres.password,
      maxConns: 20,
      maxIdleConns: 20,
      maxConnLifetime: '1h',
    },
  });
  const service = async (grpcPort?: number) => ({
    rpc: {
      grpcPort: grpcPort ?? (await freePort()),
      membershipPort: await freePort(),
      bindOnLocalHost: true,
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(frontendPort),
      matching: await service(),
      history: await service(),
      worker: await service(),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${frontendPort}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
}

/** Creates the namespace by the commands of docs/running.md, once the server answers, and waits until lists work. */
async function createNamespace(address: string): Promise<void> {
  const { binFolder } = await loadSettings();
  const { path } = await findTemporalBinary({ binFolder }, console.log);
  const operator = (...args: string[]) => {
    try {
      return execFileSync(path, ['operator', ...args, '--address', address], { stdio: 'pipe' });
    } catch {
      return undefined;
    }
  };
  await eventually('Temporal answers', () => operator('cluster', 'health'), STACK_MS);
  await eventually('the namespace is created', () =>
    operator('namespace', 'create', '--namespace', NAMESPACE, '--retention', '72h'),
  );
  const attributes = SEARCH_ATTRIBUTE_NAMES.flatMap((name) => ['--name', name, '--type', 'Keyword']);
  await eventually('the search attributes are created', () =>
    operator('search-attribute', 'create', '--namespace', NAMESPACE, ...attributes),
  );
  const connection = await Connection.connect({ address });
  try {
    await eventually('lists work', async () => {
      const unusable = await unusableSearchAttributes(connection.workflowService, NAMESPACE);
      return unusable.length === 0;
    });
  } finally {
    await connection.close();
  }
}

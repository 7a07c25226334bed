/**
 * The topology of `docker-compose.temporal.yml` as processes of this machine: PostgreSQL, Temporal's production server, an S3
 * store, two servers behind nginx and two workers, each with a home of its own, and Prometheus, which scrapes all of them. It is a
 * target of the chaos harness.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import { deploymentNameOf, describeDeployment } from '../../../platform/temporal/deployments.js';
import { eventually, freePort } from '../../stack/cli-process.js';
import { Prometheus } from '../../metrics/prometheus.js';
import { setCurrentVersion } from '../../support/current-version.js';
import { protocolClients } from '../../support/protocols/index.js';
import { S3Server } from '../../support/s3-server.js';
import { answers, Service } from '../../support/service.js';
import type { Host, Running, Target } from '../../chaos/target.js';
import { longhaul } from '../../chaos/targets/longhaul.js';
import { startPostgres } from '../../temporal-postgres/postgres.js';
import { startTemporalServer } from '../../temporal-postgres/server.js';
import { startProxy } from './proxy.js';

const MAIN = resolve('dist/bin/longhaul.js');
/** The workload. */
export const PROJECT = resolve('test/chaos/project');
const RULES = 'deploy/prometheus/longhaul.rules.yml';
const BUCKET = 'longhaul';
const TASK_QUEUE = 'cluster';
/** Ends of the programs' starts, newest first. */
type Ends = (() => Promise<unknown>)[];

/** A process of Longhaul in the cluster. */
export interface Node {
  service: Service;
  home: string;
  /** Address of its `/healthz`, `/readyz` and `/metrics`. */
  health: string;
  /** Port of a server. */
  port: number;
}

export class Cluster {
  readonly nodes: Record<string, Node> = {};
  readonly #ends: Ends = [];
  #environment: Record<string, string> = {};
  #temporal: Client | undefined;
  #proxyPort = 0;
  #prometheus: Prometheus | undefined;
  #running: Record<string, { pid: () => number | undefined; restart?: () => Promise<void> }> = {};

  /** @param folder for all files; every process names it @param project with tools of the first release */
  static async start(folder: string, project: string): Promise<Cluster> {
    const cluster = new Cluster(folder);
    try {
      await cluster.#start(project);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  private constructor(readonly folder: string) {}

  /** Scrapes all servers and workers of the first release, every second. */
  get prometheus(): Prometheus {
    return this.#prometheus!;
  }

  /** Address of the proxy. */
  get base(): string {
    return `http://127.0.0.1:${this.#proxyPort}`;
  }

  /** Processes by name, as the chaos harness takes them. */
  get processes(): Running['processes'] {
    return this.#running;
  }

  async #start(project: string): Promise<void> {
    const postgres = await startPostgres(this.folder);
    this.#register('postgresql', postgres.service);
    const pidFile = join(this.folder, 'temporal.pid');
    const temporal = await startTemporalServer(this.folder, postgres, pidFile);
    this.#ends.unshift(() => temporal.stop());
    // It is started again by itself.
    this.#running['temporal'] = { pid: () => Number(readFileSync(pidFile, 'utf8')) };
    const connection = await Connection.connect({ address: temporal.address });
    this.#ends.unshift(() => connection.close());
    this.#temporal = new Client({ connection });
    const store = await S3Server.start(BUCKET);
    this.#ends.unshift(() => store.stop());
    this.#running['store'] = { pid: () => store.service.pid, restart: () => store.service.restart() };
    this.#environment = {
      PATH: process.env['PATH']!,
      TEMPORAL_ADDRESS: temporal.address,
      LONGHAUL_TASK_QUEUE: TASK_QUEUE,
      LONGHAUL_SECRET: Buffer.alloc(32, 9).toString('base64'),
      LONGHAUL_LOG_LEVEL: 'warn',
      LONGHAUL_MAX_STEPS: '8',
      // As often as with the embedded Temporal, so that runs are short.
      LONGHAUL_HEARTBEAT_SECONDS: '1',
      LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS: '2',
      LONGHAUL_STATUS_PER_MINUTE: '60000',
      ...store.environment(`s3://${BUCKET}`),
    };
    const workers = [this.worker('worker-1', project), this.worker('worker-2', project)];
    await Promise.all(workers);
    await this.deploy();
    const servers = await Promise.all([this.server('server-1', project), this.server('server-2', project)]);
    const [one, other] = servers.map(({ port }) => `127.0.0.1:${port}`);
    const proxy = await startProxy(this.folder, [one!, other!]);
    this.#register('proxy', proxy.service);
    this.#proxyPort = proxy.port;
    const scraped = (kind: string) =>
      Object.entries(this.nodes).flatMap(([name, { health }]) =>
        name.startsWith(kind) ? [health.slice('http://'.length)] : [],
      );
    const targets = { 'longhaul-server': scraped('server'), 'longhaul-worker': scraped('worker') };
    const prometheus = await Prometheus.start(targets, RULES);
    this.#ends.unshift(() => prometheus.stop());
    this.#prometheus = prometheus;
  }

  /** Starts a server, or one of another release in its place, on the same port. */
  async server(name: string, project: string): Promise<Node> {
    const port = this.nodes[name]?.port ?? (await freePort());
    return this.#node(name, 'server', project, port);
  }

  worker(name: string, project: string): Promise<Node> {
    return this.#node(name, 'worker', project, 0);
  }

  /** Makes the newest build current, once a worker of it has polled. */
  async deploy(): Promise<void> {
    const client = this.#temporal!;
    const deploymentName = deploymentNameOf(TASK_QUEUE);
    const { buildId } = await eventually('the workers have a new build', async () => {
      const deployment = await describeDeployment(client, deploymentName);
      const [newest] = deployment?.versions ?? [];
      return newest?.buildId === deployment?.current ? undefined : newest;
    });
    await setCurrentVersion(client, { deploymentName, buildId });
  }

  /** Builds of the workers, the oldest first, with the number of open operations on each. */
  builds(): { isCurrent: boolean; open: number }[] {
    const { current, versions } = JSON.parse(this.#longhaul('deploy', 'status', '--json'));
    return versions
      .map(({ buildId, openOperations, createdAt }: any) => ({ buildId, openOperations, createdAt }))
      .sort((one: any, other: any) => one.createdAt.localeCompare(other.createdAt))
      .map(({ buildId, openOperations: open }: any) => ({ isCurrent: buildId === current, open }));
  }

  #longhaul(...args: string[]): string {
    const env = { ...this.#environment, ...this.#nodeEnvironment(join(this.folder, 'operator'), PROJECT) };
    return execFileSync(process.execPath, [MAIN, ...args], { env, encoding: 'utf8', stdio: 'pipe' });
  }

  /** Stops everything; again, does nothing. */
  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }

  #nodeEnvironment(home: string, project: string): Record<string, string> {
    mkdirSync(home, { recursive: true });
    return {
      LONGHAUL_HOME: home,
      LONGHAUL_PROJECT: project,
      LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
    };
  }

  async #node(name: string, kind: 'server' | 'worker', project: string, port: number): Promise<Node> {
    const home = join(this.folder, name);
    const health = this.nodes[name]?.health ?? `http://127.0.0.1:${await freePort()}`;
    const service = await Service.start({
      name,
      folder: this.folder,
      command: [process.execPath, MAIN, kind],
      environment: {
        ...this.#environment,
        ...this.#nodeEnvironment(home, project),
        LONGHAUL_HEALTH_ADDRESS: health.slice('http://'.length),
        ...(kind === 'server' ? { LONGHAUL_PORT: String(port) } : {}),
      },
      // A server is not ready before a build is current.
      isReady: () => answers(`${health}/readyz`),
      graceMs: 60_000,
    });
    const node = { service, home, health, port };
    this.nodes[name] = node;
    this.#register(name, service);
    return node;
  }

  #register(name: string, service: Service): void {
    this.#ends.unshift(() => service.stop());
    this.#running[name] = { pid: () => service.pid, restart: () => service.restart() };
  }
}

const { tools, hasIdempotencyKeys } = longhaul();
const serving = (service: 'reads' | 'work', weight: number) => ({ service, weight });

/** The cluster, with the workload of the chaos harness: `npm run chaos -- --target ./test/operate/cluster/index.ts --faults kill,stop`. */
export const cluster: Target = {
  name: 'Longhaul, two of each, on PostgreSQL and S3',
  processes: {
    'server-1': serving('reads', 2),
    'server-2': serving('reads', 2),
    'worker-1': serving('work', 2),
    'worker-2': serving('work', 2),
    proxy: serving('reads', 1),
    temporal: serving('work', 1),
    postgresql: serving('work', 1),
    store: serving('work', 1),
  },
  links: [],
  tools,
  hasIdempotencyKeys,
  async start({ folder }: Host): Promise<Running> {
    const running = await Cluster.start(folder, PROJECT);
    return {
      url: `${running.base}/mcp`,
      processes: running.processes,
      protocols: protocolClients(running.base),
      stop: () => running.stop(),
    };
  },
};

export default cluster;

/** A Temporal that notices drained builds within seconds, and workers of builds with names of a test's choice. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { loadSettings } from '../../platform/settings/index.js';
import { deploymentNameOf, describeDeployment } from '../../platform/temporal/deployments.js';
import { SEARCH_ATTRIBUTE_NAMES } from '../../platform/temporal/search-attributes.js';
import { findTemporalBinary } from '../../stack/temporal/binary.js';
import { run, type Ended } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

const WORKER = resolve('test/deploy/build-worker.js');
/** Temporal's own intervals are minutes. An idle worker polls as often as a long poll ends. */
const INTERVALS = [
  'matching.longPollExpirationInterval="2s"',
  'matching.wv.VersionDrainageStatusRefreshInterval="1s"',
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod="1s"',
  'matching.PollerHistoryTTL="12s"',
];

/** Commands of docs/upgrade.md that change a deployment, each on one line. */
const DOCUMENTED = readFileSync('docs/upgrade.md', 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .match(/temporal worker deployment \S+ --deployment-name [^\n`#]+/g)!
  .map((command) => command.trim());

export class DeployTemporal {
  private constructor(
    readonly address: string,
    readonly binary: string,
    readonly codePath: string,
    private readonly folder: string,
    private readonly process: ChildProcess,
    readonly client: Client,
  ) {}

  /** @param dynamicConfig further values of Temporal's dynamic configuration: `name=value` */
  static async start(dynamicConfig: string[]): Promise<DeployTemporal> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-deploy-'));
    const codePath = join(folder, 'bundle.js');
    const [{ code }, { path }, port] = await Promise.all([
      bundleWorkflowCode({ workflowsPath: resolve('test/deploy/workflows.js') }),
      loadSettings().then(({ binFolder }) => findTemporalBinary({ binFolder }, () => undefined)),
      freePort(),
    ]);
    writeFileSync(codePath, code);
    const values = [...INTERVALS, 'system.forceSearchAttributesCacheRefreshOnRead=false', ...dynamicConfig];
    const server = spawn(
      path,
      [
        ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)],
        ...['--log-level', 'error', '--db-filename', join(folder, 'temporal.db')],
        ...values.flatMap((value) => ['--dynamic-config-value', value]),
        ...['numTaskqueueReadPartitions', 'numTaskqueueWritePartitions'].flatMap((name) => [
          '--dynamic-config-value',
          `matching.${name}=1`,
        ]),
        ...SEARCH_ATTRIBUTE_NAMES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ],
      { stdio: 'ignore' },
    );
    const address = `127.0.0.1:${port}`;
    const client = await eventually(
      'Temporal answers',
      async () => {
        const connection = await Connection.connect({ address }).catch(() => undefined);
        const isReady = await connection?.workflowService
          .describeNamespace({ namespace: 'default' })
          .catch(() => undefined);
        return connection && isReady ? new Client({ connection }) : undefined;
      },
      PROCESSES_MS,
    );
    return new DeployTemporal(address, path, codePath, folder, server, client);
  }

  /** Runs a command of Temporal's command line. @returns its output @throws if it fails */
  async run(...words: string[]): Promise<string> {
    const args = [...words, '--address', this.address];
    return (await promisify(execFile)(this.binary, args)).stdout;
  }

  async stop(): Promise<void> {
    await this.client.connection.close();
    const ended = new Promise((settle) => this.process.once('close', settle));
    this.process.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A task queue with a server, and workers of builds. */
export class Deployed {
  readonly #workers = new Map<string, ChildProcess>();

  private constructor(
    readonly temporal: DeployTemporal,
    readonly stack: TestStack,
    readonly environment: Record<string, string>,
  ) {}

  static async start(temporal: DeployTemporal): Promise<Deployed> {
    const environment = { TEMPORAL_ADDRESS: temporal.address };
    // Own server: on a Temporal with short intervals.
    const stack = await TestStack.serverAlone(environment);
    await eventually('the server listens', () =>
      fetch(stack.client.url).then(
        () => true,
        () => false,
      ),
    );
    return new Deployed(temporal, stack, { ...environment, LONGHAUL_TASK_QUEUE: stack.taskQueue });
  }

  get deploymentName(): string {
    return deploymentNameOf(this.stack.taskQueue);
  }

  /** Starts a worker of a build, and waits until Temporal knows the build. */
  async worker(buildId: string): Promise<void> {
    const { address, codePath, client } = this.temporal;
    const { taskQueue } = this.stack;
    const child = spawn(
      process.execPath,
      [WORKER, address, taskQueue, this.deploymentName, buildId, codePath],
      { env: { ...process.env, NODE_OPTIONS: '' }, stdio: 'ignore' },
    );
    this.#workers.set(buildId, child);
    await eventually(
      `a worker of ${buildId} polls`,
      async () =>
        (await describeDeployment(client, this.deploymentName).catch(() => undefined))?.versions.some(
          (version) => version.buildId === buildId,
        ),
      PROCESSES_MS,
    );
  }

  async kill(buildId: string): Promise<void> {
    const child = this.#workers.get(buildId)!;
    this.#workers.delete(buildId);
    const ended = new Promise((settle) => child.once('close', settle));
    child.kill('SIGKILL');
    await ended;
  }

  async operation(): Promise<string> {
    return this.stack.client.start('slow_compute', { seconds: 1 });
  }

  async runsOn(token: string, buildId: string): Promise<void> {
    await eventually(`${token} runs on ${buildId}`, async () => {
      const { raw } = await this.temporal.client.workflow.getHandle(token).describe();
      return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId === buildId;
    });
  }

  async finish(token: string): Promise<void> {
    await this.temporal.client.workflow.getHandle(token).signal('finish');
  }

  /**
   * Runs a command of docs/upgrade.md on this deployment, again until Temporal takes it.
   *
   * @param name words that only this command has
   */
  async documented(name: RegExp, buildId: string): Promise<void> {
    const [command] = DOCUMENTED.filter((one) => name.test(one));
    const words = command!
      .split(/ +/)
      .slice(1)
      .map((word) => (word === 'longhaul-longhaul' ? this.deploymentName : word))
      .map((word) => (/^[\d.]+-[0-9a-f]{16}$/.test(word) ? buildId : word));
    let problem = '';
    await eventually(
      () => `Temporal takes ${words.join(' ')}; it says ${problem}`,
      () =>
        this.temporal.run(...words, ...(words.includes('delete-version') ? [] : ['--yes'])).then(
          () => true,
          (error: Error) => {
            problem = error.message;
            return false;
          },
        ),
    );
  }

  /** Sends new operations to a build. */
  makeCurrent(buildId: string): Promise<void> {
    return this.documented(/set-current-version/, buildId);
  }

  /** Runs the command of Temporal's command line at the end of a message. */
  async runPrinted(message: string, ...more: string[]): Promise<void> {
    const [, command] = /temporal (work.*)$/m.exec(message)!;
    const words = [...command!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    await this.temporal.run(...words, ...more);
  }

  deploy(...args: string[]): Promise<Ended> {
    return run(this.stack, ['deploy', ...args], { environment: this.environment });
  }

  async stop(): Promise<void> {
    for (const buildId of [...this.#workers.keys()]) await this.kill(buildId);
    await this.stack.stop();
  }
}

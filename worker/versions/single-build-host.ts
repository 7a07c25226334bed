/**
 * Runs one build's workflows as a version of a Worker Deployment, for the life of the process. Somebody else deploys the
 * worker, and Temporal's Worker Deployment decides which build new operations go to.
 */
import type { Client } from '@temporalio/client';
import { counted } from '../../operations/json/counted.js';
import {
  countOpenOn,
  describeDeployment,
  setCurrentCommand,
  type DeploymentVersion,
} from '../../platform/temporal/deployments.js';
import { openRuns } from '../../platform/temporal/visibility-query.js';
import type { Logger } from '../../platform/observe/log.js';
import type { WorkflowBundle } from './bundle.js';
import { logUnversionedMismatches, type ReplayCheck } from '../replay/replay-check.js';
import { logUnlessRegistered, otherWorkersOf } from './versioning.js';
import type { WorkerGroup } from '../process/worker-group.js';
import type { Refusal, WorkflowHost } from './workflow-host.js';

export interface SingleBuildHostOptions {
  taskQueue: string;
  deploymentName: string;
  identity: string;
  logger: Logger;
  client: () => Client;
  replays: ReplayCheck;
  /** Build ID of the worker's environment, instead of the bundle's. */
  givenBuildId: string | undefined;
  createWorkers: (bundle: WorkflowBundle, version: DeploymentVersion) => Promise<WorkerGroup>;
}

export class SingleBuildHost implements WorkflowHost {
  #buildId = '';
  #bundleId = '';
  #workers: WorkerGroup | undefined;
  readonly #stopping = new AbortController();
  #lastWords: Promise<void> = Promise.resolve();
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  readonly done = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor(private readonly options: SingleBuildHostOptions) {
    this.done.catch(() => undefined);
  }

  async start(bundle: WorkflowBundle): Promise<Refusal[]> {
    const { logger, replays } = this.options;
    this.#bundleId = bundle.buildId;
    this.#buildId = this.options.givenBuildId ?? bundle.buildId;
    this.#workers = await this.options.createWorkers(bundle, this.#version);
    this.#workers.ended.then(
      () => this.#lastWords.then(() => this.#settle.resolve()),
      (error: unknown) => this.#settle.reject(error),
    );
    if (this.#stopping.signal.aborted) this.#workers.shutdown();
    await this.#sayWhereOperationsGo().catch((error: unknown) =>
      logger.warn({ err: error }, 'the current version of the deployment could not be read'),
    );
    void logUnlessRegistered(this.options.client, this.#version, logger, this.#stopping.signal);
    void logUnversionedMismatches(replays, { ...bundle, buildId: this.#buildId }, logger).catch(
      (error: unknown) => logger.warn({ err: error }, 'whether open operations replay could not be checked'),
    );
    return [];
  }

  async take(bundle: WorkflowBundle): Promise<Refusal[]> {
    // The edit was undone.
    if (bundle.buildId === this.#bundleId) return [];
    const { givenBuildId } = this.options;
    const buildId = givenBuildId === undefined ? bundle.buildId : 'BUILD';
    const change = givenBuildId === undefined ? `they are build ${buildId} now, and` : 'and';
    const message =
      `the workflows have changed: ${change} this worker runs build ${this.#buildId} until it ends. ` +
      `Start another worker for the new build, then send new operations to it: ${this.#setCurrent(buildId)}`;
    return [{ about: { buildId: bundle.buildId }, message }];
  }

  async mayTake(): Promise<boolean> {
    return false;
  }

  get drainingCount(): number {
    return this.#workers?.drainingCount ?? 0;
  }

  stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    if (!this.#workers) return this.#settle.resolve();
    this.#lastWords = this.#sayWhatWaits().catch(() => undefined);
    this.#workers.shutdown();
  }

  get #version(): DeploymentVersion {
    return { deploymentName: this.options.deploymentName, buildId: this.#buildId };
  }

  #setCurrent(buildId: string): string {
    const { client, deploymentName } = this.options;
    return setCurrentCommand(client().options.namespace, { deploymentName, buildId });
  }

  async #sayWhereOperationsGo(): Promise<void> {
    const { client, logger, deploymentName } = this.options;
    const { buildId } = this.#version;
    const current = (await describeDeployment(client(), deploymentName))?.current;
    const about = { deployment: deploymentName, buildId };
    if (current === undefined)
      logger.error(
        about,
        `the deployment ${deploymentName} has no current version, so new operations start nowhere: ${this.#setCurrent(buildId)}`,
      );
    else if (current !== buildId)
      logger.warn(
        about,
        `new operations go to build ${current}; this worker runs those that began on build ${buildId}, and new ones after: ` +
          this.#setCurrent(buildId),
      );
    else logger.info(about, 'new operations go to the build of this worker');
  }

  /** Logs how many operations wait if no other worker of this build polls. */
  async #sayWhatWaits(): Promise<void> {
    const { client, logger, taskQueue, identity } = this.options;
    const { buildId } = this.#version;
    const [open, others] = await Promise.all([
      openRuns(client()).then((term) => countOpenOn(client(), this.#version, term)),
      otherWorkersOf(client(), { taskQueue, identity, version: this.#version }),
    ]);
    if (open === 0 || others > 0) return;
    logger.error(
      { buildId, open },
      `this is the last worker of build ${buildId}: ${counted(open, 'open workflow')} of operations wait until a worker ` +
        `of this build runs. Start this release again with the same workflows: longhaul worker`,
    );
  }
}

/**
 * Runs one build's workflows as a version of a Worker Deployment, for the life of the process. Somebody else deploys the
 * worker, and Temporal's Worker Deployment decides which build new operations go to.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { counted } from '../../operations/json/counted.js';
import {
  countOpenOn,
  describeDeployment,
  setCurrentCommand,
  type DeploymentVersion,
  deploymentNameOf,
  isOfVersion,
  MAX_VERSIONS,
} from '../../platform/temporal/deployments.js';
import { openRuns } from '../../platform/temporal/visibility-query.js';
import type { Logger } from '../../platform/observe/log.js';
import type { WorkflowBundle } from './bundle.js';
import { logUnversionedMismatches, type ReplayCheck } from '../replay/replay-check.js';
import type { WorkerGroup } from '../process/workers.js';
import type { Refusal, WorkflowHost } from './workflow-code.js';
import { givenVersion, type Settings } from '../../platform/settings/index.js';
import {
  GRPC,
  isDenied,
  isGrpcError,
  isUnreachable,
  temporalMessage,
} from '../../platform/temporal/grpc-errors.js';
import { describeQueue, isPolling, pollersOf } from '../../platform/temporal/host-presence.js';

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

const CALL_LIMIT_MS = 5_000;
const RETRY_MS = 500;
/** If Temporal doesn't know a polling worker's build after this time, in milliseconds, that is logged. */
const REGISTRATION_LIMIT_MS = 30_000;

/**
 * The deployment of the worker's builds; undefined if they have no versions, because of the setting or because this Temporal
 * has no Worker Deployments (logged).
 *
 * @throws the signal's reason
 */
export async function deploymentOf(
  settings: Settings,
  client: Client,
  logger: Logger,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!settings.workerVersioning) {
    void logIfDeployed(client, settings.taskQueue, logger);
    return undefined;
  }
  const deploymentName = givenVersion().deploymentName ?? deploymentNameOf(settings.taskQueue);
  const lacking = await whyNoDeployments(client, { deploymentName, buildId: 'none' }, signal);
  if (lacking === undefined) return deploymentName;
  logger.warn(
    `worker versioning is off, since this Temporal has no Worker Deployments (${lacking}): all open operations run the workflows of ` +
      'the newest workers',
  );
  return undefined;
}

/** Logs that an unversioned worker gets no operations. */
async function logIfDeployed(client: Client, taskQueue: string, logger: Logger): Promise<void> {
  const { current } = await describeQueue(client, taskQueue, 'workflows').catch(() => ({
    current: undefined,
  }));
  if (current === undefined) return;
  const { deploymentName, buildId } = current;
  logger.error(
    { deployment: deploymentName, buildId },
    `this worker has no version, but the current version of the deployment ${deploymentName} is build ${buildId}: it ` +
      'gets no operations. Send new operations to workers without a version: ' +
      `temporal worker deployment set-current-version --deployment-name ${deploymentName} --unversioned`,
  );
}

/** Temporal's reason for having no Worker Deployments; undefined if it has them. */
async function whyNoDeployments(
  client: Client,
  deploymentVersion: DeploymentVersion,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace } = client.options;
  for (;;) {
    signal.throwIfAborted();
    try {
      // Describing a deployment answers "not found" even where deployments are turned off.
      await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
        client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion }),
      );
      return undefined;
    } catch (error) {
      if (isGrpcError(error, GRPC.notFound)) return undefined;
      if (isDenied(error) || isGrpcError(error, GRPC.unimplemented)) return temporalMessage(error);
      if (!isUnreachable(error) && !isGrpcError(error, GRPC.resourceExhausted)) throw error;
      await delay(RETRY_MS, undefined, { signal, ref: true });
    }
  }
}

/** Logs when Temporal refuses a build as a version, e.g. because of too many versions: the worker's polls then fail silently. */
async function logUnlessRegistered(
  client: () => Client,
  { deploymentName, buildId }: DeploymentVersion,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let deadlineMs = performance.now() + REGISTRATION_LIMIT_MS;
  for (;;) {
    const deployment = await describeDeployment(client(), deploymentName).catch(() => {
      deadlineMs = performance.now() + REGISTRATION_LIMIT_MS;
      return undefined;
    });
    const versions = deployment?.versions ?? [];
    if (signal.aborted || versions.some((version) => version.buildId === buildId)) return;
    if (performance.now() > deadlineMs)
      return logger.error(
        { deployment: deploymentName, buildId, versions: versions.length },
        `Temporal has not taken build ${buildId} as a version of the deployment ${deploymentName}, so this worker gets no work. The ` +
          `deployment has ${versions.length} versions; Temporal keeps ${MAX_VERSIONS} unless matching.maxVersionsInDeployment says ` +
          'otherwise. This worker keeps trying. See what can go: longhaul deploy status',
      );
    await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Number of other worker processes of a version. @param worker.identity of this process */
async function otherWorkersOf(
  client: Client,
  worker: { taskQueue: string; identity: string; version: DeploymentVersion },
): Promise<number> {
  const pollers = await pollersOf(client, worker.taskQueue, 'workflows');
  return pollers.filter(
    (one) => isOfVersion(one, worker.version) && one.identity !== worker.identity && isPolling(one),
  ).length;
}

/** Decides whether this worker is a version of a Worker Deployment. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { givenVersion, type Settings } from '../../platform/settings/index.js';
import {
  deploymentNameOf,
  describeDeployment,
  isOfVersion,
  MAX_VERSIONS,
  type DeploymentVersion,
} from '../../platform/temporal/deployments.js';
import {
  GRPC,
  isDenied,
  isGrpcError,
  isUnreachable,
  temporalMessage,
} from '../../platform/temporal/grpc-errors.js';
import { describeQueue, isPolling, pollersOf } from '../../platform/temporal/host-presence.js';
import type { Logger } from '../../platform/observe/log.js';

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
export async function logUnlessRegistered(
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
export async function otherWorkersOf(
  client: Client,
  worker: { taskQueue: string; identity: string; version: DeploymentVersion },
): Promise<number> {
  const pollers = await pollersOf(client, worker.taskQueue, 'workflows');
  return pollers.filter(
    (one) => isOfVersion(one, worker.version) && one.identity !== worker.identity && isPolling(one),
  ).length;
}

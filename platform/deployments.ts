/**
 * Worker Deployments of Temporal: the versions ("builds") of the workers of a task queue, and which of them new operations go to.
 * Temporal makes a version as soon as a worker of it has polled. An operation stays on the version that it began on; workflows
 * that every build can run follow the current one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { defined } from '../operations/defined.js';
import { GRPC, isGrpcError, isUnreachable, temporalMessage } from './grpc-errors.js';
import { shellWord } from './program.js';
import { timestampMs } from './temporal-time.js';
import { quote } from './visibility-query.js';

const { VersionDrainageStatus } = proto.temporal.api.enums.v1;

/** Deadline of a call that reads, in milliseconds: Temporal asks a workflow of its own. */
const READ_LIMIT_MS = 10_000;
/** Deadline of a call that changes a deployment, in milliseconds: Temporal updates each task queue before it answers. */
const CHANGE_LIMIT_MS = 15_000;
/** Pause between attempts to change a deployment, in milliseconds. */
const RETRY_MS = 500;

/** How often a deployment that is not found is looked for, and the pause in between in milliseconds. */
const NOT_FOUND_ATTEMPTS = 4;
const NOT_FOUND_PAUSE_MS = 150;

/** Number of versions of a deployment that Temporal keeps by default (`matching.maxVersionsInDeployment`). */
export const MAX_VERSIONS = 100;

/** A version of the workers of a task queue. */
export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

/**
 * Use of a version at present: new operations go to it (`current`, `ramping`), only operations that began on it run on it
 * (`draining`), none does (`drained`), or it has never been used for new operations (`inactive`).
 */
export type VersionStatus = 'current' | 'ramping' | 'draining' | 'drained' | 'inactive';

/** A version as its deployment describes it. */
export interface VersionState {
  buildId: string;
  status: VersionStatus;
  /** When a worker of it first polled. */
  createdAt: Date;
  /** Since when it has this status. */
  since: Date;
}

/** State of a deployment. */
export interface Deployment {
  deploymentName: string;
  /** Build that new operations go to; undefined if nobody has set one. */
  current: string | undefined;
  /** Build that a share of new operations goes to, in percent from 0 to 100. */
  ramping: { buildId: string; percentage: number } | undefined;
  /** Newest first. */
  versions: VersionState[];
  /** Who changed it last: the identity of a client. */
  changedBy: string | undefined;
  /** Names this state: Temporal refuses a change that is meant for an earlier one. */
  conflictToken: Uint8Array;
}

/** Name of the deployment of a task queue's workers. Temporal allows neither `.` nor `:` in it. */
export function deploymentNameOf(taskQueue: string): string {
  return `longhaul-${taskQueue.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll(':', '%3A')}`;
}

/**
 * Describes a deployment; undefined if no versioned worker of the task queue has polled yet. Temporal asks the deployment's workflow,
 * which continues as new after each change; it answers "not found" to a request that comes at that moment, so that is asked again.
 */
export async function describeDeployment(
  client: Client,
  deploymentName: string,
): Promise<Deployment | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await describeOnce(client, deploymentName);
    } catch (error) {
      if (!isGrpcError(error, GRPC.notFound)) throw error;
      if (attempt === NOT_FOUND_ATTEMPTS) return undefined;
      await delay(NOT_FOUND_PAUSE_MS);
    }
  }
}

async function describeOnce(client: Client, deploymentName: string): Promise<Deployment> {
  const { namespace } = client.options;
  const { workerDeploymentInfo: info, conflictToken } = await client.withDeadline(
    Date.now() + READ_LIMIT_MS,
    () => client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
  );
  const routing = info?.routingConfig;
  const ramping = routing?.rampingDeploymentVersion?.buildId;
  const current = routing?.currentDeploymentVersion?.buildId ?? undefined;
  return {
    deploymentName,
    current,
    ramping: ramping
      ? { buildId: ramping, percentage: Math.round((routing.rampingVersionPercentage ?? 0) * 100) / 100 }
      : undefined,
    versions: (info?.versionSummaries ?? [])
      .map((version) => versionState(version, current, ramping ?? undefined))
      .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime()),
    changedBy: info?.lastModifierIdentity || undefined,
    conflictToken: conflictToken ?? new Uint8Array(),
  };
}

type VersionSummary = proto.temporal.api.deployment.v1.WorkerDeploymentInfo.IWorkerDeploymentVersionSummary;

function versionState(
  summary: VersionSummary,
  current: string | undefined,
  ramping: string | undefined,
): VersionState {
  const buildId = summary.deploymentVersion?.buildId ?? '';
  const dateOf = (time: typeof summary.createTime) => (time ? new Date(timestampMs(time)) : undefined);
  const createdAt = dateOf(summary.createTime) ?? new Date(0);
  const { drainageInfo } = summary;
  const drainage = drainageInfo?.status;
  const state = (status: VersionStatus, since: typeof summary.createTime): VersionState => ({
    buildId,
    status,
    createdAt,
    since: dateOf(since) ?? createdAt,
  });
  if (buildId === current) return state('current', summary.currentSinceTime);
  if (buildId === ramping) return state('ramping', summary.rampingSinceTime);
  if (drainage === VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINED)
    return state('drained', drainageInfo?.lastChangedTime);
  if (drainage === VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINING)
    return state('draining', summary.lastDeactivationTime ?? drainageInfo?.lastChangedTime);
  return state('inactive', summary.createTime);
}

interface Attempts {
  /** Ends the attempts; the promise then rejects with its reason. */
  signal: AbortSignal;
  /** Called with the reason for which an attempt failed, if it will be repeated. */
  onRetry?: (reason: string) => void;
}

/**
 * Sends all new operations to a version, and ends the ramp of another one. Repeated until a worker of that version has polled all
 * its task queues, and while Temporal can't be reached.
 *
 * @throws the signal's reason
 */
export async function setCurrentVersion(
  client: Client,
  version: DeploymentVersion,
  { signal, onRetry }: Attempts,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const deployment = await describeDeployment(client, version.deploymentName);
      if (deployment) {
        await client.withDeadline(Date.now() + CHANGE_LIMIT_MS, () =>
          makeCurrent(client, version, deployment),
        );
        return;
      }
      onRetry?.('no versioned worker has polled yet');
    } catch (error) {
      if (!isPassing(error)) throw error;
      onRetry?.(temporalMessage(error));
    }
    // An aborted delay rejects with an AbortError; the loop's start throws the signal's reason.
    await delay(RETRY_MS, undefined, { signal, ref: true }).catch(() => undefined);
  }
}

async function makeCurrent(
  client: Client,
  { deploymentName, buildId }: DeploymentVersion,
  { current, ramping, conflictToken }: Deployment,
): Promise<void> {
  const { namespace, identity } = client.options;
  const change = { namespace, deploymentName, ...defined({ identity }) };
  let token = conflictToken;
  // A version that ramps would keep its share. If the second call fails, all goes to the version that is current now.
  if (ramping && ramping.buildId !== buildId)
    ({ conflictToken: token } = await client.workflowService.setWorkerDeploymentRampingVersion({
      ...change,
      buildId: '',
      percentage: 0,
      conflictToken: token,
    }));
  if (current === buildId) return;
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    ...change,
    buildId,
    conflictToken: token,
  });
}

/** The command of Temporal's command line that sends all new operations to a version. */
export function setCurrentCommand(namespace: string, { deploymentName, buildId }: DeploymentVersion): string {
  return (
    `temporal worker deployment set-current-version --namespace ${shellWord(namespace)} ` +
    `--deployment-name ${shellWord(deploymentName)} --build-id ${shellWord(buildId)}`
  );
}

/**
 * Whether the change may succeed later: a worker of the version hasn't polled yet, or not each task queue; another client changed
 * the deployment between two calls of this one.
 */
function isPassing(error: unknown): boolean {
  return (
    isUnreachable(error) || isGrpcError(error, GRPC.notFound, GRPC.failedPrecondition, GRPC.resourceExhausted)
  );
}

/**
 * Number of open workflows that only a version can run: operations with their parts.
 *
 * @param condition of visibility that they have to meet too
 */
export async function countOpenOn(
  client: Client,
  version: DeploymentVersion,
  condition?: string,
): Promise<number> {
  const { namespace } = client.options;
  const query = openOn(version) + (condition === undefined ? '' : ` AND ${condition}`);
  const { count } = await client.withDeadline(Date.now() + READ_LIMIT_MS, () =>
    client.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count ?? 0);
}

/** Visibility query for the open workflows that only a version can run. Temporal separates the names by a colon there. */
export function openOn({ deploymentName, buildId }: DeploymentVersion): string {
  return (
    `TemporalWorkerDeploymentVersion = ${quote(`${deploymentName}:${buildId}`)} ` +
    `AND TemporalWorkflowVersioningBehavior = 'Pinned' AND ExecutionStatus = 'Running'`
  );
}

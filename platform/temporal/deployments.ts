/**
 * Temporal's Worker Deployments: the versions ("builds") of a task queue's workers. A version exists once a worker of it has
 * polled. An operation stays on its first version. Workflows that every build can run follow the current one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { GRPC, isGrpcError } from './grpc-errors.js';
import { shellWord } from '../home/program.js';
import { timestampMs } from './time.js';
import { quote } from './visibility-query.js';

const { VersionDrainageStatus } = proto.temporal.api.enums.v1;

/** Deadline of a read: Temporal asks one of its own workflows. */
const READ_LIMIT_MS = 10_000;

/** How long "not found" may be an answer of the moment. A deployment without versioned workers costs this long. */
const UNKNOWN_LIMIT_MS = 450;
/** Pause between attempts to describe a deployment. */
const DESCRIBE_PAUSE_MS = 150;

/** Versions that Temporal keeps by default (`matching.maxVersionsInDeployment`). */
export const MAX_VERSIONS = 100;

export interface DeploymentVersion {
  deploymentName: string;
  buildId: string;
}

/** `current`, `ramping`: gets new operations. `draining`: only runs older ones. `drained`: runs none. `inactive`: never got any. */
export type VersionStatus = 'current' | 'ramping' | 'draining' | 'drained' | 'inactive';

export interface VersionState {
  buildId: string;
  status: VersionStatus;
  /** When one of its workers first polled. */
  createdAt: Date;
  /** Since when it has this status. */
  since: Date;
}

export interface Deployment {
  deploymentName: string;
  /** Build for new operations; undefined if nobody set one. */
  current: string | undefined;
  /** Build for a share of new operations, in percent from 0 to 100. */
  ramping: { buildId: string; percentage: number } | undefined;
  /** Newest first. */
  versions: VersionState[];
  /** Identity of the client that changed it last. */
  changedBy: string | undefined;
}

/** Version in an answer of Temporal's; undefined for unversioned workers. */
export function versionIn(
  version: proto.temporal.api.deployment.v1.IWorkerDeploymentVersion | null | undefined,
): DeploymentVersion | undefined {
  const { deploymentName, buildId } = version ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

/** Whether a worker or a task is of a version. */
export function isOfVersion(
  one: Partial<DeploymentVersion>,
  version: DeploymentVersion | undefined,
): boolean {
  return one.buildId === version?.buildId && one.deploymentName === version?.deploymentName;
}

/** Default name of the deployment of a task queue's workers. Temporal allows neither `.` nor `:` in it. */
export function deploymentNameOf(taskQueue: string): string {
  return `longhaul-${taskQueue.replaceAll('%', '%25').replaceAll('.', '%2E').replaceAll(':', '%3A')}`;
}

/**
 * Describes a deployment; undefined until a versioned worker has polled. Asks again after "not found" and "not scheduled yet", which
 * Temporal answers while the deployment's workflow continues as new.
 */
export async function describeDeployment(
  client: Client,
  deploymentName: string,
): Promise<Deployment | undefined> {
  const start = performance.now();
  for (;;) {
    try {
      return await describeOnce(client, deploymentName);
    } catch (error) {
      const isUnknown = isGrpcError(error, GRPC.notFound);
      if (!isUnknown && !isGrpcError(error, GRPC.failedPrecondition)) throw error;
      const elapsedMs = performance.now() - start;
      if (isUnknown && elapsedMs >= UNKNOWN_LIMIT_MS) return undefined;
      if (elapsedMs >= READ_LIMIT_MS) throw error;
      await delay(DESCRIBE_PAUSE_MS);
    }
  }
}

async function describeOnce(client: Client, deploymentName: string): Promise<Deployment> {
  const { namespace } = client.options;
  const { workerDeploymentInfo: info } = await client.withDeadline(Date.now() + READ_LIMIT_MS, () =>
    client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
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

/** The `temporal` command that sends all new operations to a version. */
export function setCurrentCommand(namespace: string, { deploymentName, buildId }: DeploymentVersion): string {
  return (
    `temporal worker deployment set-current-version --namespace ${shellWord(namespace)} ` +
    `--deployment-name ${shellWord(deploymentName)} --build-id ${shellWord(buildId)}`
  );
}

/** Number of open workflows, including parts, that only a version can run. @param open term for open runs @param condition another one */
export async function countOpenOn(
  client: Client,
  version: DeploymentVersion,
  open: string,
  condition?: string,
): Promise<number> {
  const { namespace } = client.options;
  const query = openOn(version, open) + (condition === undefined ? '' : ` AND ${condition}`);
  const { count } = await client.withDeadline(Date.now() + READ_LIMIT_MS, () =>
    client.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count ?? 0);
}

/** Visibility query for the open workflows that only a version can run. The version's name has a colon there. */
export function openOn({ deploymentName, buildId }: DeploymentVersion, open: string): string {
  return (
    `TemporalWorkerDeploymentVersion = ${quote(`${deploymentName}:${buildId}`)} ` +
    `AND TemporalWorkflowVersioningBehavior = 'Pinned' AND ${open}`
  );
}

/** Reports the versions of a task queue's workers to operators, with their pollers and open operations. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import {
  countOpenOn,
  deploymentNameOf,
  describeDeployment,
  isOfVersion,
  openOn,
  type Deployment,
  type DeploymentVersion,
  type VersionState,
} from './deployments.js';
import { findWorkflow } from './find-workflow.js';
import { listWorkflows } from './list-workflows.js';
import { keywordIn } from './search-attributes.js';
import { describeQueue, isPolling, JUST_POLLED_MS, type Poller, type QueueState } from './host-presence.js';
import { temporalNowMs, timestampMs } from './time.js';
import { openRuns, quote, RUNNING_RUNS } from './visibility-query.js';

const { PENDING_WORKFLOW_TASK_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;

const CALL_LIMIT_MS = 5_000;
/** Open operations that are listed to find builds without a version in Temporal. */
const LISTED = 1_000;
/** Open operations that are described to find a waiting one. */
const LOOKED_AT = 10;
/** Workflows that aren't parts of operations. */
const ROOTS = 'ParentWorkflowId IS NULL';
const VERSION_ATTRIBUTE = 'TemporalWorkerDeploymentVersion';

export interface VersionReport extends Omit<VersionState, 'status' | 'createdAt' | 'since'> {
  /** `retired`: Temporal no longer has this version, but open operations need it. */
  status: VersionState['status'] | 'retired';
  createdAt?: Date;
  since?: Date;
  /** Open operations that only this version can run. */
  openOperations: number;
  /** Its workers that polled within five minutes, latest poll first. */
  pollers: Poller[];
  /** Whether one of its workers seems to be polling. */
  isPolled: boolean;
  /** Whether open operations wait for one of its workers. */
  isStranded: boolean;
}

export interface DeploymentReport {
  deploymentName: string;
  taskQueue: string;
  /** Undefined until a versioned worker has polled. */
  deployment: Deployment | undefined;
  /** Newest first; retired ones last. */
  versions: VersionReport[];
  hasUnversioned: boolean;
  /** Visibility term for open runs. */
  openRuns: string;
}

/**
 * Name of the deployment of a task queue's workers: of its current version, else of a polling worker, else of an open operation. A
 * worker's environment may name another deployment than the task queue suggests.
 */
async function deploymentNameIn(
  client: Client,
  taskQueue: string,
  { current, pollers }: QueueState,
  open: string,
): Promise<string> {
  const known =
    current?.deploymentName ?? pollers.find(({ deploymentName }) => deploymentName)?.deploymentName;
  if (known !== undefined) return known;
  const query = `TaskQueue = ${quote(taskQueue)} AND ${VERSION_ATTRIBUTE} IS NOT NULL AND ${open} AND ${ROOTS}`;
  const [operation] = await list(client, query, 1);
  return operation?.version?.split(':')[0] ?? deploymentNameOf(taskQueue);
}

/** Reads a deployment. Queries visibility once for each version in use, and once or twice for all others. */
export async function reportDeployment(client: Client, taskQueue: string): Promise<DeploymentReport> {
  const [queue, open] = await Promise.all([describeQueue(client, taskQueue, 'workflows'), openRuns(client)]);
  const { pollers } = queue;
  const deploymentName = await deploymentNameIn(client, taskQueue, queue, open);
  const deployment = await describeDeployment(client, deploymentName);
  const known = deployment?.versions ?? [];
  const used = known.filter(({ status }) => ['current', 'ramping', 'draining'].includes(status));
  const counts = new Map<string, number>();
  for (const { buildId } of used)
    counts.set(buildId, await countOpenOn(client, { deploymentName, buildId }, open, ROOTS));
  const others = deployment
    ? await otherBuilds(client, deploymentName, used, open)
    : new Map<string, number>();
  const report = async (buildId: string): Promise<Omit<VersionReport, 'status'>> => {
    const own = pollers.filter((poller) => isOfVersion(poller, { deploymentName, buildId }));
    const openOperations = counts.get(buildId) ?? others.get(buildId) ?? 0;
    const isPolled = own.some(isPolling);
    const isStranded =
      openOperations > 0 &&
      (!isPolled || (await hasUntakenTask(client, taskQueue, { deploymentName, buildId })));
    return { buildId, openOperations, pollers: own, isPolled: isPolled && !isStranded, isStranded };
  };
  const retired = [...others.keys()].filter((buildId) => known.every((one) => one.buildId !== buildId));
  return {
    deploymentName,
    taskQueue,
    deployment,
    versions: [
      ...(await Promise.all(known.map(async (state) => ({ ...state, ...(await report(state.buildId)) })))),
      ...(await Promise.all(
        retired.map(async (buildId) => ({ status: 'retired' as const, ...(await report(buildId)) })),
      )),
    ],
    hasUnversioned: pollers.some((poller) => poller.buildId === undefined && isPolling(poller)),
    openRuns: open,
  };
}

/**
 * Whether a recent open operation's task has waited 5 s while no worker polled: idle workers take it, and busy ones poll within
 * moments.
 */
async function hasUntakenTask(
  client: Client,
  taskQueue: string,
  version: DeploymentVersion,
): Promise<boolean> {
  const before = await untakenTasks(client, taskQueue, version);
  if (before.length === 0) return false;
  const waitedMs = (await temporalNowMs(client)) - Math.min(...before);
  if (waitedMs > JUST_POLLED_MS) return true;
  // This process may not know how late it is.
  await delay(JUST_POLLED_MS);
  const after = await untakenTasks(client, taskQueue, version);
  return after.some((scheduledMs) => before.includes(scheduledMs));
}

/**
 * When the version's waiting tasks that are newer than its latest poll became due, in epoch milliseconds. Tasks of paused workflows don't
 * count.
 */
async function untakenTasks(
  client: Client,
  taskQueue: string,
  version: DeploymentVersion,
): Promise<number[]> {
  const open = await list(client, `${openOn(version, RUNNING_RUNS)} AND ${ROOTS}`, LOOKED_AT);
  const found = await Promise.all(open.map(({ workflowId }) => findWorkflow(client, workflowId)));
  const { pollers } = await describeQueue(client, taskQueue, 'workflows');
  const latest = pollers.find((poller) => isOfVersion(poller, version));
  return found
    .map((description) => description?.raw.pendingWorkflowTask)
    .filter((task) => task?.state === PENDING_WORKFLOW_TASK_STATE_SCHEDULED)
    .map((task) => timestampMs(task?.originalScheduledTime ?? {}))
    .filter((scheduledMs) => scheduledMs > (latest?.polledAt.getTime() ?? 0));
}

/** Open operations by build, for versions that aren't in use or that Temporal no longer has. */
async function otherBuilds(
  client: Client,
  deploymentName: string,
  used: VersionState[],
  open: string,
): Promise<Map<string, number>> {
  const prefix = `${deploymentName}:`;
  const query =
    `TemporalWorkerDeployment = ${quote(deploymentName)} AND TemporalWorkflowVersioningBehavior = 'Pinned' ` +
    `AND ${open} AND ${ROOTS}` +
    used.map(({ buildId }) => ` AND ${VERSION_ATTRIBUTE} != ${quote(prefix + buildId)}`).join('');
  const builds = new Map<string, number>();
  for (const { version } of await list(client, query, LISTED)) {
    if (!version?.startsWith(prefix)) continue;
    const buildId = version.slice(prefix.length);
    builds.set(buildId, (builds.get(buildId) ?? 0) + 1);
  }
  return builds;
}

/** Lists up to this number of workflows, with the name of their deployment and build, separated by a colon. */
async function list(
  client: Client,
  query: string,
  most: number,
): Promise<{ workflowId: string; version: string | undefined }[]> {
  return client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    const found = [];
    for await (const { workflowId, info } of listWorkflows(client, query, most)) {
      found.push({ workflowId, version: keywordIn(info, VERSION_ATTRIBUTE) });
      if (found.length === most) break;
    }
    return found;
  });
}

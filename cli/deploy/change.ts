/** `longhaul deploy current` and `longhaul deploy ramp`: which build new operations go to. */
import type { Client } from '@temporalio/client';
import { isKind } from '../../operations/errors.js';
import { reportDeployment, type DeploymentReport } from '../../platform/deployment-report.js';
import {
  describeDeployment,
  endRamp,
  MAX_VERSIONS,
  setCurrentVersion,
  setRampingVersion,
  type Deployment,
  type RoutingChange,
} from '../../platform/deployments.js';
import { programCommand } from '../../platform/program.js';
import { print } from '../console.js';
import { usageFailure } from '../client/failures.js';
import { CommandFailure } from '../failure.js';
import { confirmed, type ConfirmFlags } from './confirm.js';
import { operations, retirableBuilds } from './problems.js';
import { waitForWorker } from './wait.js';

export interface ChangeFlags extends ConfirmFlags {
  /** How long to wait for a worker of the build, in seconds. */
  wait: number;
}

/** State of the routing before and after a command. */
export interface ChangeResult {
  changed: boolean;
  current: string | undefined;
  ramping: Deployment['ramping'];
}

/** Maximum delay of a timer, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;
/** Routing before a versioned worker has polled. */
const UNROUTED = { current: undefined, ramping: undefined };

/** Sends all new operations to a build. */
export async function makeCurrent(
  client: Client,
  taskQueue: string,
  buildId: string,
  flags: ChangeFlags,
): Promise<ChangeResult> {
  const before = await reportDeployment(client, taskQueue);
  const { current, ramping } = before.deployment ?? UNROUTED;
  if (current === buildId && !ramping) {
    print(`${buildId} is current already.`);
    return { changed: false, current, ramping };
  }
  const plan = [
    current === buildId
      ? `All new operations will go to ${buildId}, which is current.`
      : `New operations will go to ${buildId} (now: ${current ?? 'to no build'}).`,
    ...rampNotice(ramping, buildId),
    ...stayingOn(before, buildId),
    ...pollNotice(before, buildId, flags),
  ];
  if (!(await confirmed(plan, flags))) return { changed: false, current, ramping };
  await change(client, before, buildId, flags, (change) =>
    setCurrentVersion(client, { deploymentName: before.deploymentName, buildId }, change),
  );
  print(`New operations go to ${buildId}.`);
  return { changed: true, current: buildId, ramping: undefined };
}

/** Sends a share of new operations to a build; 0 percent ends the ramp. */
export async function ramp(
  client: Client,
  taskQueue: string,
  buildId: string | undefined,
  percentage: number,
  flags: ChangeFlags,
): Promise<ChangeResult> {
  const before = await reportDeployment(client, taskQueue);
  const { current, ramping } = before.deployment ?? UNROUTED;
  if (percentage === 0) return stopRamp(client, before, flags);
  if (buildId === undefined) throw usageFailure('BUILD: expected a build');
  if (current === undefined)
    throw new CommandFailure(
      `no build of ${before.deploymentName} is current, so all other operations would wait: ` +
        `expected \`${programCommand()} deploy current BUILD\` first`,
    );
  if (current === buildId)
    throw new CommandFailure(`${buildId} is current already: it takes all new operations`);
  if (ramping?.buildId === buildId && ramping.percentage === percentage) {
    print(`${buildId} ramps at ${percentage} % already.`);
    return { changed: false, current, ramping };
  }
  const plan = [
    `${percentage} % of new operations will go to ${buildId}, the others to ${current}.`,
    ...rampNotice(ramping, buildId),
    ...pollNotice(before, buildId, flags),
  ];
  if (!(await confirmed(plan, flags))) return { changed: false, current, ramping };
  await change(client, before, buildId, flags, (change) =>
    setRampingVersion(client, { deploymentName: before.deploymentName, buildId }, percentage, change),
  );
  print(`${percentage} % of new operations go to ${buildId}.`);
  return { changed: true, current, ramping: { buildId, percentage } };
}

async function stopRamp(client: Client, before: DeploymentReport, flags: ChangeFlags): Promise<ChangeResult> {
  const { current, ramping } = before.deployment ?? UNROUTED;
  if (!ramping) {
    print('No build ramps.');
    return { changed: false, current, ramping };
  }
  const plan = [`All new operations will go to ${current ?? 'no build'}; ${ramping.buildId} gets no more.`];
  if (!(await confirmed(plan, flags))) return { changed: false, current, ramping };
  await change(client, before, undefined, flags, (change) => endRamp(client, before.deploymentName, change));
  print(`The ramp of ${ramping.buildId} has ended.`);
  return { changed: true, current, ramping: undefined };
}

function rampNotice(ramping: Deployment['ramping'], buildId: string): string[] {
  if (!ramping || ramping.buildId === buildId) return [];
  return [`The ramp of ${ramping.buildId} (${ramping.percentage} %) will end.`];
}

/** Operations that continue on the builds that they began on. */
function stayingOn({ versions }: DeploymentReport, buildId: string): string[] {
  return versions
    .filter((version) => version.openOperations > 0 && version.buildId !== buildId)
    .map(
      (version) =>
        `${operations(version.openOperations)} on ${version.buildId} will end there: keep workers of it.`,
    );
}

function pollNotice({ versions }: DeploymentReport, buildId: string, { wait }: ChangeFlags): string[] {
  if (versions.some((version) => version.buildId === buildId && version.isPolled)) return [];
  return [`No worker of ${buildId} polls yet; the command waits for one, for up to ${wait} s.`];
}

/** Waits for a worker of the build, then makes the change, if the deployment is still as it was shown. */
async function change(
  client: Client,
  before: DeploymentReport,
  buildId: string | undefined,
  { wait }: ChangeFlags,
  apply: (change: RoutingChange) => Promise<void>,
): Promise<void> {
  const { deploymentName, deployment } = before;
  const limit = AbortSignal.timeout(Math.min(wait * 1_000, LONGEST_MS));
  let reason = '';
  try {
    if (buildId !== undefined) await waitForWorker(client, before.taskQueue, buildId, limit);
    await apply({
      signal: limit,
      ...(deployment ? { conflictToken: deployment.conflictToken } : {}),
      onRetry: (message) => (reason = message),
    });
  } catch (error) {
    if (limit.aborted) throw new CommandFailure(await lateMessage(client, before, buildId, wait, reason));
    if (!isKind(error, 'conflict')) throw error;
    const now = await describeDeployment(client, deploymentName);
    throw new CommandFailure(
      `${deploymentName} was changed meanwhile by ${now?.changedBy ?? 'somebody'}: ${routing(now)} ` +
        `(was: ${routing(deployment)}); this command has changed nothing`,
    );
  }
}

function routing(deployment: Deployment | undefined): string {
  const current =
    deployment?.current === undefined ? 'no build is current' : `${deployment.current} is current`;
  const ramping = deployment?.ramping;
  return ramping ? `${current}, ${ramping.buildId} ramps at ${ramping.percentage} %` : current;
}

async function lateMessage(
  client: Client,
  before: DeploymentReport,
  buildId: string | undefined,
  wait: number,
  reason: string,
): Promise<string> {
  const now = await reportDeployment(client, before.taskQueue);
  const polled = now.versions.filter(({ isPolled }) => isPolled).map((version) => version.buildId);
  const known = now.deployment?.versions.length ?? 0;
  const isPolled = buildId === undefined || polled.includes(buildId);
  return [
    isPolled
      ? `Temporal has not changed ${before.deploymentName} within ${wait} s: ${reason}`
      : `no worker of build ${buildId} has polled the task queue ${before.taskQueue} within ${wait} s`,
    ...(isPolled
      ? []
      : [polled.length > 0 ? `workers poll of ${polled.join(', ')}` : 'no versioned worker polls']),
    ...(known >= MAX_VERSIONS && !isPolled ? [fullNotice(known, retirableBuilds(now))] : []),
    'nothing was changed',
  ].join('; ');
}

function fullNotice(known: number, retirable: string[]): string {
  const advice =
    retirable.length > 0
      ? `\`${programCommand()} deploy retire\` frees one: ${retirable.slice(0, 5).join(', ')}`
      : 'none of them can be retired yet';
  return `Temporal keeps ${MAX_VERSIONS} versions of a deployment and has ${known}, so it refuses workers of further ones (${advice})`;
}

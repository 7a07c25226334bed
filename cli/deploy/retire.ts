/** `longhaul deploy retire`: deletes a version that no open operation needs. */
import type { Client } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import {
  openOperationsOn,
  reportDeployment,
  type DeploymentReport,
  type VersionReport,
} from '../../platform/deployment-report.js';
import { countOpenOn, deleteVersion } from '../../platform/deployments.js';
import { programCommand } from '../../platform/program.js';
import { temporalNowMs } from '../../platform/temporal-time.js';
import { print } from '../console.js';
import { CommandFailure } from '../failure.js';
import { confirmed, type ConfirmFlags } from './confirm.js';
import { moveAdvice, operations } from './problems.js';

/** Number of open operations that are named. */
const NAMED = 5;
/** Time after which visibility has every workflow that began on a version, in milliseconds. */
const SETTLED_MS = 60_000;

/** Deletes a version. @throws CommandFailure with the reason for which it is still needed, and the way out */
export async function retire(
  client: Client,
  taskQueue: string,
  buildId: string,
  flags: ConfirmFlags,
): Promise<{ retired: boolean }> {
  const report = await reportDeployment(client, taskQueue);
  const version = report.versions.find((one) => one.buildId === buildId);
  if (!version || version.status === 'retired') throw unknownBuild(report, buildId);
  await requireUnneeded(client, report, version);
  const plan = [
    `Temporal will forget the version ${buildId} of ${report.deploymentName}, which no open operation needs.`,
  ];
  if (!(await confirmed(plan, flags))) return { retired: false };
  const deploymentVersion = { deploymentName: report.deploymentName, buildId };
  try {
    await deleteVersion(client, deploymentVersion, { isDrained: version.status !== 'draining' });
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    throw new CommandFailure(`${buildId} can't be retired: ${error.message}; nothing was changed`);
  }
  print(`Retired ${buildId}.`);
  return { retired: true };
}

async function requireUnneeded(
  client: Client,
  report: DeploymentReport,
  version: VersionReport,
): Promise<void> {
  const { buildId, status, since, pollers } = version;
  const { deploymentName } = report;
  const refuse = (reason: string, advice: string) => {
    throw new CommandFailure(`${buildId} can't be retired: ${reason}. ${advice}`);
  };
  if (status === 'current')
    refuse(
      'new operations go to it',
      `Make another build current first: ${programCommand()} deploy current BUILD`,
    );
  if (status === 'ramping')
    refuse('new operations go to it', `End its ramp first: ${programCommand()} deploy ramp 0`);
  // Parts of operations count too: one may outlive its parent.
  const open = await countOpenOn(client, { deploymentName, buildId });
  if (open > 0) {
    const ids = await openOperationsOn(client, { deploymentName, buildId }, NAMED);
    const named =
      ids.length > 0 ? ` (${ids.join(', ')}${version.openOperations > ids.length ? ', ...' : ''})` : '';
    refuse(
      `${operations(Math.max(version.openOperations, ids.length))} can only run on it${named}`,
      `Wait for their end, cancel them, or ${moveAdvice(client.options.namespace, '--workflow-id ID')}`,
    );
  }
  if (pollers.length > 0) {
    const workers = [...new Set(pollers.map(({ identity }) => identity))].join(', ');
    refuse(
      `workers of it have polled within 5 minutes (${workers}, last at ${pollers[0]!.polledAt.toISOString()})`,
      'End them, and try again 5 minutes later',
    );
  }
  const age = (await temporalNowMs(client)) - (since?.getTime() ?? 0);
  if (status === 'draining' && age < SETTLED_MS)
    refuse(
      `new operations went to it until ${Math.round(age / 1_000)} s ago, and lists may lack them yet`,
      'Try again in a minute',
    );
}

function unknownBuild({ deploymentName, versions }: DeploymentReport, buildId: string): CommandFailure {
  const known = versions.filter(({ status }) => status !== 'retired').map((version) => version.buildId);
  return new CommandFailure(
    `${deploymentName} has no build ${JSON.stringify(buildId)}; it has ${known.join(', ') || 'none'}`,
  );
}

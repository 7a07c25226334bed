import type { Command } from 'commander';
import { humanDuration } from '../../../operations/tool/budgets.js';
import {
  reportDeployment,
  type DeploymentReport,
  type VersionReport,
} from '../../../platform/temporal/deployment-report.js';
import { sincePollMs } from '../../../platform/temporal/host-presence.js';
import { addJsonFlag, printOutput } from '../../client/command.js';
import { deploymentProblems } from '../../doctor/deployment-problems.js';
import { oneLine, textTable } from '../../terminal/table.js';
import { runOnTemporal } from '../../with-temporal.js';

const HELP = `
The build of a worker is the version of Temporal's SDK and a digest of the workflows' code. An operation runs on the build that it began
on; new ones go to the current build, a share of them to a ramping one. \`longhaul up\` makes its own build current. Elsewhere
somebody does, with Temporal's command line, once workers of the build run:

  temporal worker deployment set-current-version --deployment-name longhaul-longhaul --build-id BUILD
`;

/** `longhaul deploy status`. Connects to Temporal, not to a server. */
export function define(deploy: Command): void {
  deploy.addHelpText('after', HELP);
  const command = addJsonFlag(deploy.command('status'));
  command.description('show the builds, what goes to each, and the open operations that need it');
  runOnTemporal(command, async (client, { taskQueue }) => {
    const report = await reportDeployment(client, taskQueue);
    const { namespace } = client.options;
    printOutput(command, deploymentJson(report, namespace), () => deploymentText(report, namespace));
  });
}

/** The deployment as text, with what needs to be done. */
function deploymentText(report: DeploymentReport, namespace: string): string {
  const { deployment, deploymentName, taskQueue, versions, hasUnversioned } = report;
  if (!deployment)
    return hasUnversioned
      ? `The workers of the task queue ${taskQueue} are unversioned.`
      : `No versioned worker has polled the task queue ${taskQueue} yet.`;
  const changedBy =
    deployment.changedBy === undefined ? '' : `, last changed by ${oneLine(deployment.changedBy)}`;
  const rows = versions.map((version) => [
    version.buildId,
    statusOf(version, deployment.ramping?.percentage),
    version.since?.toISOString().replace(/\.\d+Z$/, 'Z') ?? '',
    String(version.openOperations),
    workersOf(version),
  ]);
  const problems = deploymentProblems(report, namespace).flatMap(({ detail, advice }) => [
    '',
    `${capital(detail)}.`,
    `  -> ${advice}`,
  ]);
  return [
    `Deployment ${deploymentName}${changedBy}`,
    '',
    textTable([['BUILD', 'STATUS', 'SINCE', 'OPEN', 'WORKERS'], ...rows]),
    ...problems,
    ...keptBuilds(report),
  ].join('\n');
}

/** The deployment as a JSON document. Part of the public interface. */
function deploymentJson(report: DeploymentReport, namespace: string) {
  const { deployment, deploymentName, taskQueue, versions } = report;
  return {
    deployment: deploymentName,
    taskQueue,
    current: deployment?.current ?? null,
    ramping: deployment?.ramping ?? null,
    changedBy: deployment?.changedBy ?? null,
    versions: versions.map(({ buildId, status, since, createdAt, openOperations, pollers, isPolled }) => ({
      buildId,
      status,
      since: since?.toISOString() ?? null,
      createdAt: createdAt?.toISOString() ?? null,
      openOperations,
      isPolled,
      lastPolledAt: pollers[0]?.polledAt.toISOString() ?? null,
      workers: pollers.map(({ identity }) => identity),
    })),
    problems: deploymentProblems(report, namespace),
  };
}

function statusOf({ status }: VersionReport, percentage: number | undefined): string {
  return status === 'ramping' && percentage !== undefined ? `ramping ${percentage} %` : status;
}

function workersOf({ isPolled, pollers }: VersionReport): string {
  const [latest] = pollers;
  if (!latest) return 'none within 5 minutes';
  const age = humanDuration(sincePollMs(latest) / 1_000);
  return isPolled
    ? `${new Set(pollers.map(({ identity }) => identity)).size}, last poll ${age} ago`
    : `none for ${age}`;
}

/** Builds, other than the current one, that still need workers, with their number of open operations. */
function keptBuilds({ deployment, versions }: DeploymentReport): string[] {
  const needed = versions
    .filter(
      ({ buildId, openOperations, isStranded }) =>
        openOperations > 0 && !isStranded && buildId !== deployment?.current,
    )
    .map(({ buildId, openOperations }) => `${buildId} (${openOperations})`);
  return needed.length === 0
    ? []
    : ['', `Open operations would wait without workers of their build; keep those of ${needed.join(', ')}.`];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Problems of a deployment, for `longhaul deploy status` and `longhaul doctor`. */
import { openOn } from '../../platform/deployments.js';
import type { DeploymentReport, VersionReport } from '../../platform/deployment-report.js';
import { programCommand, shellWord } from '../../platform/program.js';

export interface DeploymentProblem {
  detail: string;
  /** Recommended action. */
  advice: string;
}

/** Everything that keeps open or new operations from running. */
export function deploymentProblems(report: DeploymentReport, namespace: string): DeploymentProblem[] {
  const { deployment, versions, hasUnversioned } = report;
  const problems = versions
    .filter(({ isStranded }) => isStranded)
    .map((version) => strandedProblem(report, version, namespace));
  if (!deployment) return problems;
  const { current } = deployment;
  if (current === undefined && !hasUnversioned)
    return [
      {
        detail: `no build of ${report.deploymentName} is current, so new operations wait`,
        advice: `${programCommand()} deploy current BUILD`,
      },
      ...problems,
    ];
  const currentVersion = versions.find(({ buildId }) => buildId === current);
  if (currentVersion && !currentVersion.isPolled && currentVersion.openOperations === 0)
    problems.unshift({
      detail: `no worker of the current build ${current} polls, so new operations wait`,
      advice: `start one of that release, or make another build current: ${programCommand()} deploy current BUILD`,
    });
  return problems;
}

function strandedProblem(
  { deploymentName, taskQueue }: DeploymentReport,
  { buildId, openOperations, status }: VersionReport,
  namespace: string,
): DeploymentProblem {
  const query = openOn({ deploymentName, buildId });
  const retired = status === 'retired' ? ', which is retired' : '';
  return {
    detail:
      `${operations(openOperations)} ${openOperations === 1 ? 'needs' : 'need'} a worker of build ${buildId}${retired}; ` +
      `none polls the task queue ${taskQueue}`,
    advice: `start one of that release; or ${moveAdvice(namespace, `--query "${query}" --reason upgrade --yes`)}`,
  };
}

/** How operations get off a build that no worker can be started of. @param selection flags that select them */
export function moveAdvice(namespace: string, selection: string): string {
  return (
    `move ${selection.includes('--query') ? 'them' : 'each'} to the current build, if its code replays them: temporal workflow ` +
    `update-options --namespace ${shellWord(namespace)} ${selection} --versioning-override-behavior auto_upgrade`
  );
}

/** `1 open operation`, `3 open operations`. */
export function operations(count: number): string {
  return `${count} open operation${count === 1 ? '' : 's'}`;
}

/** Builds that nothing needs: drained ones, and those never used for which no worker polls. */
export function retirableBuilds({ versions }: DeploymentReport): string[] {
  return versions
    .filter(
      ({ status, openOperations, isPolled }) =>
        openOperations === 0 && !isPolled && (status === 'drained' || status === 'inactive'),
    )
    .map(({ buildId }) => buildId);
}

/** Problems of a deployment, for `longhaul deploy status` and `longhaul doctor`. */
import { openOn, setCurrentCommand } from '../../platform/temporal/deployments.js';
import type { DeploymentReport, VersionReport } from '../../platform/temporal/deployment-report.js';
import { counted } from '../../operations/json/counted.js';
import { shellWord } from '../../platform/home/program.js';

export interface DeploymentProblem {
  detail: string;
  /** Recommended action. */
  advice: string;
}

/** Everything that keeps open or new operations from running. */
export function deploymentProblems(report: DeploymentReport, namespace: string): DeploymentProblem[] {
  const { deployment, deploymentName, versions, hasUnversioned } = report;
  const problems = versions
    .filter(({ isStranded }) => isStranded)
    .map((version) => strandedProblem(report, version, namespace));
  if (!deployment) return problems;
  const { current } = deployment;
  const buildId = onlyPolled(versions) ?? 'BUILD';
  const setCurrent = setCurrentCommand(namespace, { deploymentName, buildId });
  if (current === undefined && !hasUnversioned)
    return [
      {
        detail: `no build of ${deploymentName} is current, so new operations wait`,
        advice: setCurrent,
      },
      ...problems,
    ];
  const currentVersion = versions.find((version) => version.buildId === current);
  if (currentVersion && !currentVersion.isPolled && currentVersion.openOperations === 0)
    problems.unshift({
      detail: `no worker of the current build ${current} polls, so new operations wait`,
      advice: `start one of that release, or make another build current: ${setCurrent}`,
    });
  return problems;
}

/** The build that workers poll for, if there is only one. */
function onlyPolled(versions: VersionReport[]): string | undefined {
  const [first, ...others] = versions.filter(({ isPolled }) => isPolled);
  return others.length === 0 ? first?.buildId : undefined;
}

function strandedProblem(
  { deploymentName, taskQueue, openRuns }: DeploymentReport,
  { buildId, openOperations, status }: VersionReport,
  namespace: string,
): DeploymentProblem {
  const query = openOn({ deploymentName, buildId }, openRuns);
  const retired = status === 'retired' ? ', which is retired' : '';
  return {
    detail:
      `${counted(openOperations, 'open operation')} ${openOperations === 1 ? 'needs' : 'need'} a worker of build ${buildId}${retired}; ` +
      `none polls the task queue ${taskQueue}`,
    advice:
      'start one of that release; or move them to the current build, if its code replays them: temporal workflow ' +
      `update-options --namespace ${shellWord(namespace)} --query "${query}" --reason upgrade --yes ` +
      '--versioning-override-behavior auto_upgrade',
  };
}

/** Reloads workflows and activities after edits while a worker runs, and reports problems. */
import { basename, extname } from 'node:path';
import { didYouMean } from '../../operations/json/near-names.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { projectFilesOf } from '../../platform/project/index.js';
import { loadToolFiles } from '../../platform/project/code.js';
import { ProjectModules } from '../../platform/project/modules.js';
import {
  formatProjectProblem,
  placeOfName,
  writeWorkerProblems,
  type ProjectProblem,
} from '../../platform/project/problems.js';
import { watchFiles } from '../../platform/project/watch-files.js';
import type { ActivityCode } from '../process/activity-code.js';
import type { WorkflowCode } from './workflow-code.js';

/** How often to check whether operations that block a new bundle are still open, in milliseconds. */
const RETRY_INTERVAL_MS = 3_000;

/** @param loadedSinceMs when the first file was read, in epoch milliseconds. @returns a function that stops following */
export async function followEdits(
  settings: Settings,
  logger: Logger,
  { activities, workflows }: { activities: ActivityCode; workflows: WorkflowCode },
  loadedSinceMs: number,
): Promise<() => void> {
  let missing: string[] = [];
  const lookForMissing = async () => {
    const known = missing;
    missing = (await missingWorkflows(settings, workflows.exports(), workflows.fileProblems())).map(
      formatProjectProblem,
    );
    for (const problem of missing.filter((one) => !known.includes(one))) logger.error({}, problem);
    writeProblems();
  };
  let written: string | undefined;
  const writeProblems = () => {
    const ofActivities = activities.errors().flatMap((error) => error.problems.map(formatProjectProblem));
    const problems = [...workflows.problems(), ...ofActivities, ...missing];
    if (problems.join('\n') === written) return;
    try {
      writeWorkerProblems(settings, problems);
      written = problems.join('\n');
    } catch (error) {
      logger.warn({ err: error }, 'problems of tools could not be written for the servers of this home');
    }
  };
  for (const problem of workflows.problems())
    logger.error({}, `${problem}; its workflows are left out, and their operations wait`);
  await lookForMissing();

  const onError = (error: unknown) =>
    logger.error({ err: error }, 'edits could not be loaded; the previous code keeps running');
  const ends = [
    watchFiles(
      () => activities.watched(),
      async () => {
        const before = activities.errors().map(({ message }) => message);
        await activities.reload();
        for (const { problems } of activities.errors().filter(({ message }) => !before.includes(message)))
          for (const problem of problems)
            logger.error({}, `${formatProjectProblem(problem)}; its activities run as they were before`);
        if (activities.errors().length === 0) logger.info('activities are loaded again');
        writeProblems();
      },
      { onError, loadedSinceMs },
    ),
    watchFiles(
      () => [...new Set([...workflows.watched(), ...projectFilesOf('tools', settings)])],
      async () => {
        await workflows.reload();
        await lookForMissing();
      },
      { onError, loadedSinceMs },
    ),
  ];
  const retry = setInterval(() => {
    void workflows.retry().then(writeProblems, onError);
  }, RETRY_INTERVAL_MS);
  retry.unref();
  return () => {
    ends.forEach((end) => end());
    clearInterval(retry);
  };
}

/** Problems of tools whose workflow no file exports. @param broken problems of workflow files; the exports of broken files are unknown */
export async function missingWorkflows(
  settings: Settings,
  exported: readonly string[],
  broken: readonly ProjectProblem[],
): Promise<ProjectProblem[]> {
  const unknown = broken.map(({ path }) => basename(path, extname(path)));
  const files = await loadToolFiles(projectFilesOf('tools', settings), new ProjectModules());
  return files.flatMap(({ path, value: tool }) => {
    if (!tool) return [];
    const { name, workflow } = tool;
    if (exported.includes(workflow) || unknown.includes(workflow)) return [];
    const near = didYouMean(workflow, exported) || ';';
    const message = `tool "${name}": no file in workflows/ exports a workflow "${workflow}"${near} expected export async function ${workflow}() in workflows/${workflow}.ts`;
    return [{ path, ...placeOfName(path, workflow), message }];
  });
}

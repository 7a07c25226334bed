/** Tools whose workflow no file exports. */
import { basename, extname } from 'node:path';
import { didYouMean } from '../operations/near-names.js';
import type { Settings } from '../platform/settings/index.js';
import { projectFilesOf } from '../platform/project.js';
import { loadToolFiles } from '../platform/project-code.js';
import { ProjectModules } from '../platform/project-modules.js';
import { placeOfName, type ProjectProblem } from '../platform/project-problems.js';

/** @param broken problems of workflow files; the exports of broken files are unknown */
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

import { existsSync, statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { isToolFile, parseToolFile } from '../../../external-workflows/parse.js';
import { toolEditorSchema } from '../../../external-workflows/schema.js';
import { isToolService } from '../../../external-workflows/service.js';
import { counted } from '../../../operations/json/counted.js';
import { parsePipelineFile } from '../../../pipelines/parse.js';
import { editorSchema } from '../../../pipelines/schema.js';
import { formatProjectProblem } from '../../../platform/project/problems.js';
import { yamlFolders, yamlPaths } from '../../../platform/project/tools.js';
import type { CheckedFile, CheckedTypes } from '../../check/project.js';
import { addJsonFlag, isJson } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { exitOnceWritten, print, printJson } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
Without files, checks everything that a server and a worker would load, and starts neither: definitions, workflows
that are missing, what workflows import, activities, and types with the project's own TypeScript. For pipelines it
reports unknown keys, expressions and variables of GitHub Actions and GitLab CI, wrong indentation, jobs that can't
run, and outputs whose values can't have their type; for tools over external workflows, unknown keys, arguments
that are no inputs, and schemas that can't be used. For all it reports arguments for which some clients refuse all
tools of a server, though their tools are served. Each problem has its file, usually its line, what was
expected and what was found.
Exit code: 0 when all files are fine, 1 when one isn't, 2 when there is nothing to check.`;

export function define(command: Command): void {
  addJsonFlag(command)
    .argument('[files...]')
    .addOption(
      new Option(
        '--schema [language]',
        'print the JSON Schema of pipelines, or of tools over external workflows',
      )
        .choices(['pipeline', 'tool'])
        .preset('pipeline'),
    )
    .addHelpText('after', HELP);
  command.action(async (operands: string[]) => {
    const { schema: language } = command.opts<{ schema?: 'pipeline' | 'tool' }>();
    if (language) {
      const printed = language === 'tool' ? toolEditorSchema() : editorSchema();
      return print(JSON.stringify(printed, null, 2));
    }
    const { files, types } = operands.length > 0 ? checkFiles(operands) : await checkAll(command);
    const ok = files.every((file) => file.ok);
    if (isJson(command)) printJson({ ok, files, ...(types ? { types } : {}) });
    else {
      for (const file of files) printChecked(file);
      if (types) print(`types: ${types.checked ? 'checked with' : 'not checked:'} ${types.detail}`);
    }
    process.exitCode = ok ? EXIT.ok : EXIT.failed;
    // Tool code may have left timers and connections open.
    if (types) exitOnceWritten();
  });
}

type Checked = CheckedFile & { jobs?: number; steps?: number };

interface CheckedFiles {
  files: Checked[];
  /** Undefined when only YAML files are checked. */
  types?: CheckedTypes;
}

async function checkAll(command: Command): Promise<CheckedFiles> {
  const settings = await settingsOf(command);
  const folders = yamlFolders(settings).map(({ path }) => path);
  const yaml = folders.flatMap(yamlPaths).map(checkFile);
  // Loads the bundler, which YAML files don't need.
  const { checkProject } = await import('../../check/project.js');
  const code = await checkProject(settings);
  if (code) return { ...code, files: [...code.files, ...yaml] };
  if (yaml.length > 0) return { files: yaml };
  const there = folders.filter((folder) => existsSync(folder));
  const where = there.length > 0 ? ` and no .yml or .yaml file in ${there.join(', ')}` : ' and no pipelines';
  throw usageFailure(
    `nothing to check: no tools/, workflows/ or activities/ with code in ${settings.project}${where}`,
  );
}

/** Checks YAML files, a folder's in alphabetical order. */
function checkFiles(operands: string[]): CheckedFiles {
  const code = operands.find((path) => /\.[mc]?[jt]s$/.test(path));
  if (code !== undefined)
    throw usageFailure(
      `${code}: expected a YAML file; code is checked with its whole project: longhaul check`,
    );
  const files = operands.flatMap(filesAt);
  if (files.length > 0) return { files: files.map(checkFile) };
  throw usageFailure(`no .yml or .yaml file in ${operands.join(', ')}; name the files to check`);
}

/** The YAML files in a folder. Any other path counts as a file, and is reported if it isn't one. */
function filesAt(path: string): string[] {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? yamlPaths(path) : [path];
}

function checkFile(file: string): Checked {
  return isToolFile(file) ? checkTool(file) : checkPipeline(file);
}

function checkTool(file: string): Checked {
  const { value: tool, ...parsed } = parseToolFile(file);
  const problems = [...parsed.problems, ...parsed.findings];
  if (!tool) return { file, ok: false, problems };
  if (isToolService(tool)) {
    const gives = `the tools that the Nexus service ${tool.service} lists at the endpoint ${tool.endpoint}`;
    return { file, ok: true, gives, problems };
  }
  const place = tool.external ? ` on task queue ${tool.external.taskQueue}` : '';
  const gives = `tool ${tool.name}, workflow ${tool.workflow}${place}`;
  return { file, ok: problems.length === 0, tool: tool.name, gives, problems };
}

function checkPipeline(file: string): Checked {
  const { value: pipeline, ...parsed } = parsePipelineFile(file);
  const problems = [...parsed.problems, ...parsed.findings];
  if (!pipeline) return { file, ok: false, problems };
  const jobs = Object.values(pipeline.jobs);
  const steps = jobs.reduce((sum, job) => sum + job.steps.length, 0);
  return { file, ok: problems.length === 0, tool: pipeline.name, jobs: jobs.length, steps, problems };
}

function printChecked({ file, ok, tool, jobs, steps = 0, gives, problems }: Checked): void {
  for (const problem of problems) print(formatProjectProblem(problem));
  if (!ok) return;
  if (jobs !== undefined)
    print(`${file}: ok, tool ${tool}, ${counted(jobs, 'job')}, ${counted(steps, 'step')}`);
  else print(`${file}: ok${gives ? `, ${gives}` : ''}`);
}

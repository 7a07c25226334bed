import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { counted } from '../../../operations/json/counted.js';
import type { Problem } from '../../../pipelines/parse.js';
import { EXIT } from '../../client/exit-codes.js';
import { exitOnceWritten, print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  command
    .argument('[files...]')
    .addOption(
      new Option(
        '--schema [language]',
        'print the JSON Schema of pipelines, or of tools over external workflows',
      )
        .choices(['pipeline', 'tool'])
        .preset('pipeline'),
    )
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      `
Without files, checks everything that a server and a worker would load, and starts neither: definitions, workflows
that are missing, what workflows import, activities, and types with the project's own TypeScript. For pipelines it
reports unknown keys, expressions and variables of GitHub Actions and GitLab CI, wrong indentation, jobs that can't
run, and outputs whose values can't have their type; for tools over external workflows, unknown keys, arguments
that are no inputs, and schemas that can't be used. For all it reports arguments for which some clients refuse all
tools of a server, though their tools are served. Each problem has its file, usually its line, what was
expected and what was found.
Exit code: 0 when all files are fine, 1 when one isn't, 2 when there is nothing to check.`,
    );
  command.action(async (operands: string[]) => {
    const { schema, json } = command.opts<{ schema?: 'pipeline' | 'tool'; json?: boolean }>();
    if (schema) return printSchema(schema);
    const { files, types } = operands.length > 0 ? await checkFiles(operands) : await checkAll(command);
    const ok = files.every((file) => file.ok);
    if (json) printJson({ ok, files, ...(types ? { types } : {}) });
    else {
      for (const file of files) await printChecked(file);
      if (types && !types.checked) print(`types: not checked: ${types.detail}`);
      else if (types) print(`types: checked with ${types.detail}`);
    }
    // Tool code may have left timers and connections open.
    process.exitCode = ok ? EXIT.ok : EXIT.failed;
    if (types) exitOnceWritten();
  });
}

interface Checked {
  file: string;
  ok: boolean;
  tool?: string;
  jobs?: number;
  steps?: number;
  /** Describes the exports of a code file. */
  gives?: string;
  problems: (Omit<Problem, 'line' | 'column'> & { line?: number; column?: number })[];
}

interface CheckedFiles {
  files: Checked[];
  /** Whether types were checked, and with which version or why not; undefined when only pipelines are checked. */
  types?: { checked: boolean; detail: string };
}

async function checkAll(command: Command): Promise<CheckedFiles> {
  const settings = await settingsOf(command);
  const { yamlFolders, yamlPaths } = await import('../../../platform/project/tools.js');
  const folders = yamlFolders(settings).map(({ path }) => path);
  const yaml = await Promise.all(folders.flatMap(yamlPaths).map(checkFile));
  const { checkProject } = await import('../../check/project.js');
  const code = await checkProject(settings);
  if (code) {
    const { isChecked, detail } = code.types;
    return { files: [...code.files, ...yaml], types: { checked: isChecked, detail } };
  }
  if (yaml.length > 0) return { files: yaml };
  const there = folders.filter((folder) => existsSync(folder));
  const where = there.length > 0 ? ` and no .yml or .yaml file in ${there.join(', ')}` : ' and no pipelines';
  throw new CommandFailure(
    `nothing to check: no tools/, workflows/ or activities/ with code in ${settings.project}${where}`,
    EXIT.usage,
  );
}

/** Checks YAML files, a folder's in alphabetical order. */
async function checkFiles(operands: string[]): Promise<CheckedFiles> {
  const code = operands.find((path) => /\.[mc]?[jt]s$/.test(path));
  if (code !== undefined)
    throw new CommandFailure(
      `${code}: expected a YAML file; code is checked with its whole project: longhaul check`,
      EXIT.usage,
    );
  const files = operands.flatMap(filesAt);
  if (files.length > 0) return { files: await Promise.all(files.map(checkFile)) };
  throw new CommandFailure(
    `no .yml or .yaml file in ${operands.join(', ')}; name the files to check`,
    EXIT.usage,
  );
}

async function printSchema(language: 'pipeline' | 'tool'): Promise<void> {
  const schema =
    language === 'tool'
      ? (await import('../../../external-workflows/schema.js')).toolEditorSchema()
      : (await import('../../../pipelines/schema.js')).editorSchema();
  print(JSON.stringify(schema, null, 2));
}

/** The YAML files in a folder. Any other path counts as a file, and is reported if it isn't one. */
function filesAt(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/i.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function checkFile(file: string): Promise<Checked> {
  const { isToolFile, parseToolFile } = await import('../../../external-workflows/parse.js');
  if (isToolFile(file)) {
    const { isToolService } = await import('../../../external-workflows/service.js');
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
  const { parsePipelineFile } = await import('../../../pipelines/parse.js');
  const { value: pipeline, ...parsed } = parsePipelineFile(file);
  const problems = [...parsed.problems, ...parsed.findings];
  if (!pipeline) return { file, ok: false, problems };
  const jobs = Object.values(pipeline.jobs);
  const steps = jobs.reduce((sum, job) => sum + job.steps.length, 0);
  return { file, ok: problems.length === 0, tool: pipeline.name, jobs: jobs.length, steps, problems };
}

async function printChecked({ file, ok, tool, jobs, steps = 0, gives, problems }: Checked): Promise<void> {
  const { formatProjectProblem } = await import('../../../platform/project/problems.js');
  for (const problem of problems) print(formatProjectProblem(problem));
  if (!ok) return;
  if (jobs !== undefined)
    print(`${file}: ok, tool ${tool}, ${counted(jobs, 'job')}, ${counted(steps, 'step')}`);
  else print(`${file}: ok${gives ? `, ${gives}` : ''}`);
}

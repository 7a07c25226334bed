import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Problem } from '../../pipelines/parse.js';
import { EXIT } from '../client/exit-codes.js';
import { print } from '../console.js';
import { CommandFailure } from '../failure.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul check`. */
export function registerCheck(program: Command): void {
  const command = program
    .command('check [files...]')
    .helpGroup('Pipelines:')
    .description("check pipelines' files, or all of a folder (default: the project's pipelines)")
    .option('--schema', 'print the JSON Schema of the language, for editors')
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      "\nNames, with line and column, what was expected and what came: unknown keys, expressions and variables of GitHub\nActions and GitLab CI, wrong indentation, jobs that can't run, and outputs whose values can't have their type.\nExit code: 0 when all files are fine, 1 when one isn't, 2 when there is nothing to check.",
    );
  command.action(async (operands: string[]) => {
    const { schema, json } = command.opts<{ schema?: boolean; json?: boolean }>();
    if (schema) return printSchema();
    const files = await Promise.all((await filesOf(command, operands)).map(checkFile));
    if (json) print(JSON.stringify({ ok: files.every(({ ok }) => ok), files }));
    else for (const file of files) await tell(file);
    process.exitCode = files.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
  });
}

interface Checked {
  file: string;
  ok: boolean;
  tool?: string;
  jobs?: number;
  steps?: number;
  problems: Problem[];
}

async function printSchema(): Promise<void> {
  const { editorSchema } = await import('../../pipelines/schema.js');
  print(JSON.stringify(editorSchema(), null, 2));
}

/** The files that are meant, those of a folder in alphabetical order. */
async function filesOf(command: Command, operands: string[]): Promise<string[]> {
  const paths =
    operands.length > 0
      ? operands
      : (await settingsOf(command)).pipelineFolders.filter((folder) => existsSync(folder));
  const files = paths.flatMap(filesAt);
  if (files.length > 0) return files;
  const where = paths.length > 0 ? `no .yml or .yaml file in ${paths.join(', ')}` : 'no folder of pipelines';
  throw new CommandFailure(`${where}; name the files to check`, EXIT.usage);
}

/** A folder's files; anything else is taken for a file, and told if it isn't one. */
function filesAt(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/i.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function checkFile(file: string): Promise<Checked> {
  const { parsePipelineFile } = await import('../../pipelines/file.js');
  const { pipeline, problems } = parsePipelineFile(file);
  if (!pipeline) return { file, ok: false, problems };
  const jobs = Object.values(pipeline.jobs);
  const steps = jobs.reduce((sum, job) => sum + job.steps.length, 0);
  return { file, ok: true, tool: pipeline.name, jobs: jobs.length, steps, problems };
}

async function tell({ file, ok, tool, jobs = 0, steps = 0, problems }: Checked): Promise<void> {
  const { formatProblem } = await import('../../pipelines/parse.js');
  for (const problem of problems) print(formatProblem(problem));
  if (ok) print(`${file}: ok, tool ${tool}, ${counted(jobs, 'job')}, ${counted(steps, 'step')}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

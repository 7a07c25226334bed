/** Environment variables and working directory of a step. A step gets an allow-list of the worker's variables. */
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { approvalVariable, inputVariable } from '../../pipelines/names.js';
import type { RunStep } from '../../pipelines/run.js';
import { readJson } from './files.js';
import type { ChildPaths } from './layout.js';
import { fitsVariable, variablesOf, variableText } from './values.js';

export interface EnvironmentOptions {
  paths: ChildPaths;
  token: string;
  /** Number of this run of the step, from 1. */
  attempt: number;
  outputFile: string;
  secrets: Record<string, string>;
  trace: Record<string, string>;
  /** The worker's variables that steps get. */
  base: Record<string, string>;
}

/** @throws Error, for people, when the workspace's inputs are gone or a value can't be a variable */
export async function stepEnvironment(
  step: RunStep,
  { paths, token, attempt, outputFile, secrets, trace, base }: EnvironmentOptions,
): Promise<Record<string, string>> {
  const inputs = await readJson<Record<string, unknown>>(paths.inputs);
  if (!inputs)
    throw new Error('the file of its inputs is gone or damaged; an earlier step may have removed it');
  const { index } = step.child;
  const item = index === undefined ? undefined : variableText(await readJson(paths.item));
  const given = { ...step.env, ...secrets };
  const unusable = Object.keys(given).find((name) => given[name]!.includes('\0'));
  if (unusable) throw new Error(`${unusable} holds a NUL character, which no variable can`);
  return {
    ...base,
    ...trace,
    CI: 'true',
    TMPDIR: paths.tmp,
    LONGHAUL: 'true',
    LONGHAUL_TOKEN: token,
    LONGHAUL_JOB: step.child.job,
    LONGHAUL_STEP: step.name,
    LONGHAUL_ATTEMPT: String(attempt),
    LONGHAUL_INPUTS: paths.inputs,
    LONGHAUL_OUTPUT: outputFile,
    LONGHAUL_ARTIFACTS: paths.artifacts,
    LONGHAUL_WORKSPACE: paths.workspace,
    ...(index === undefined ? {} : { LONGHAUL_ITEM_INDEX: String(index) }),
    ...(item !== undefined && fitsVariable(item) ? { LONGHAUL_ITEM: item } : {}),
    ...variablesOf(inputVariable, inputs),
    ...variablesOf(approvalVariable, step.approval ?? {}),
    ...given,
  };
}

/** The real path of the step's working directory. @throws Error, for people, when it doesn't exist or is outside the workspace */
export async function workingDirectory(step: RunStep, paths: ChildPaths): Promise<string> {
  const given = step.workingDirectory ?? '.';
  const path = resolve(paths.workspace, given);
  const workspace = await realpath(paths.workspace);
  const found = await realpath(path).catch(() => undefined);
  if (found === undefined || !(await stat(found)).isDirectory())
    throw new Error(
      `its working directory "${given}" is no folder in the workspace; an earlier step has to make it`,
    );
  if (found !== workspace && !found.startsWith(workspace + sep))
    throw new Error(`its working directory "${given}" is outside the workspace`);
  return found;
}

/** Environment variables and working directory of a step. A step gets an allow-list of the worker's variables. */
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { approvalVariable, inputVariable, NAME } from '../../pipelines/names.js';
import type { RunStep } from '../../pipelines/run.js';
import { UMASK_VARIABLE } from '../../platform/home/index.js';
import type { Settings } from '../../platform/settings/index.js';
import { readJson } from './files.js';
import type { ChildPaths } from './layout.js';

/** Worker variables that every step gets: paths, locale, proxies and certificates. */
const STEP_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|(https?|ftp|all|no)_proxy|(HTTPS?|FTP|ALL|NO)_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO|PIP_CERT|AWS_CA_BUNDLE)$/;
/** Maximum size of a variable, in bytes, because environments are limited. Larger values are only in the file of the inputs. */
const MAX_VARIABLE_BYTES = 32 * 1024;
/** Maximum total size of one kind of variables, in bytes. Values beyond it get no variable. */
const MAX_VARIABLES_BYTES = 512 * 1024;

export interface EnvironmentOptions {
  paths: ChildPaths;
  token: string;
  /** Number of this run of the step, from 1. */
  attempt: number;
  outputFile: string;
  secrets: Record<string, string>;
  trace: Record<string, string>;
  /** The project's folder on the worker's host. */
  project: string;
  /** The worker's variables that steps get. */
  base: Record<string, string>;
}

/** @throws Error, for people, when the workspace's inputs are gone or a value can't be a variable */
export async function stepEnvironment(
  step: RunStep,
  { paths, token, attempt, outputFile, secrets, trace, project, base }: EnvironmentOptions,
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
    LONGHAUL_PROJECT: project,
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

/** The worker's variables that steps get: the usual ones, and those named in the settings. */
export function stepVariables(
  { stepEnvironment }: Pick<Settings, 'stepEnvironment'>,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (STEP_VARIABLES.test(entry[0]) || stepEnvironment.includes(entry[0])),
  );
  return Object.fromEntries(passed);
}

/** The steps' umask, in octal: the user's, which a process that changed its own has noted. */
export function stepUmask(): string {
  const given = process.env[UMASK_VARIABLE] ?? '';
  return /^[0-7]{1,4}$/.test(given) ? given : process.umask().toString(8).padStart(4, '0');
}

function variableText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** An object's values as variables, as far as they fit. Additional inputs may have names that aren't valid for variables. */
function variablesOf(
  variableOf: (name: string) => string,
  values: Record<string, unknown>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(values)) {
    const text = variableText(value);
    if (!NAME.test(name) || !fitsVariable(text)) continue;
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_VARIABLES_BYTES) break;
    variables[variableOf(name)] = text;
  }
  return variables;
}

/** Whether it is small enough for a variable, without a NUL character. */
function fitsVariable(text: string): boolean {
  return !text.includes('\0') && Buffer.byteLength(text) <= MAX_VARIABLE_BYTES;
}

/** Checks of scripts for other systems' variables and commands, which are empty or have no effect here. */
import type { Report } from '../yaml/problems.js';
import { expandedVariables, isAssignedOrTested } from '../script-variables.js';
import { at, entriesOf, itemsOf, textsOf } from '../values.js';

const COMMANDS: [text: string, instead: string][] = [
  ['::set-output', 'write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job'],
  ['::set-env', 'set it under `env`'],
  ['::add-path', 'extend PATH in each script that needs it'],
  ['::add-mask', 'only what is listed under `secrets` is masked'],
];

export function checkScripts(file: unknown, report: Report): void {
  const secrets = textsOf(at(file, 'secrets')).map(([, name]) => name);
  for (const [name, job] of entriesOf(at(file, 'jobs'))) {
    for (const [index, step] of itemsOf(at(job, 'steps')).entries()) {
      const run = at(step, 'run');
      if (typeof run !== 'string') continue;
      const path = ['jobs', name, 'steps', index, 'run'];
      const declared = [file, job, step].flatMap((owner) => entriesOf(at(owner, 'env')).map(([one]) => one));
      const known = new Set([...secrets, ...declared]);
      for (const variable of expandedVariables(run)) {
        const message = known.has(variable) ? undefined : unsupportedVariableMessage(variable);
        if (message === undefined || isAssignedOrTested(run, variable)) continue;
        report(path, message, { text: usedAs(run, variable) });
      }
      for (const [text, instead] of COMMANDS)
        if (run.includes(`${text} `) && /\becho\b|\bprintf\b/.test(run))
          report(path, `${text} is a command of GitHub Actions, without effect here; ${instead}`, { text });
    }
  }
}

/** The variable as the script writes it: `$NAME` or `${NAME`. */
function usedAs(run: string, variable: string): string {
  return new RegExp(String.raw`\$(\{[!#]?)?${variable}\b`).exec(run)?.[0] ?? variable;
}

const NEXT_STEPS =
  'variables end with their step: set it under `env`, or write it to a file of the workspace and read that in later steps';
const AS_INPUT = 'no repository starts a pipeline: declare an input, and use its $INPUT_... variable';
const RUNNER = "steps run on the worker's machine: ask it in the script";

/** GitHub Actions' default variables, without GITHUB_ACTIONS: scripts test it to see where they run. */
const GITHUB: Record<string, string> = {
  GITHUB_ENV: NEXT_STEPS,
  GITHUB_OUTPUT: 'write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job',
  GITHUB_STATE: NEXT_STEPS,
  GITHUB_STEP_SUMMARY: 'print it: the log is kept; or write a file, and list it under `artifacts` of the job',
  GITHUB_PATH: 'extend PATH in each script that needs it: export PATH="/opt/tool/bin:$PATH"',
  GITHUB_WORKSPACE: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  GITHUB_JOB: 'use $LONGHAUL_JOB',
  GITHUB_RUN_ID: 'use $LONGHAUL_TOKEN, which names the operation',
  GITHUB_RUN_NUMBER: 'use $LONGHAUL_TOKEN, which names the operation',
  GITHUB_RUN_ATTEMPT: 'use $LONGHAUL_ATTEMPT, which counts the runs of this step',
  GITHUB_EVENT_PATH: 'use $LONGHAUL_INPUTS, a file with the arguments of the call as JSON',
  ...each(AS_INPUT, [
    'GITHUB_ACTOR GITHUB_ACTOR_ID GITHUB_TRIGGERING_ACTOR GITHUB_REPOSITORY GITHUB_REPOSITORY_ID',
    'GITHUB_REPOSITORY_OWNER GITHUB_REPOSITORY_OWNER_ID GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE',
    'GITHUB_REF_PROTECTED GITHUB_HEAD_REF GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_WORKFLOW GITHUB_WORKFLOW_REF',
    'GITHUB_WORKFLOW_SHA GITHUB_RETENTION_DAYS GITHUB_SERVER_URL GITHUB_API_URL GITHUB_GRAPHQL_URL',
    'GITHUB_ACTION GITHUB_ACTION_PATH GITHUB_ACTION_REPOSITORY',
  ]),
  RUNNER_TEMP: 'use $TMPDIR',
  RUNNER_WORKSPACE: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  ...each(RUNNER, ['RUNNER_OS RUNNER_ARCH RUNNER_NAME RUNNER_ENVIRONMENT RUNNER_DEBUG RUNNER_TOOL_CACHE']),
};

/** GitLab's predefined variables with a counterpart. */
const GITLAB: Record<string, string> = {
  CI_PROJECT_DIR: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  CI_BUILDS_DIR: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  CI_JOB_NAME: 'use $LONGHAUL_JOB',
  CI_JOB_ID: 'use $LONGHAUL_TOKEN, which names the operation, and $LONGHAUL_JOB',
  CI_PIPELINE_ID: 'use $LONGHAUL_TOKEN, which names the operation',
  CI_PIPELINE_IID: 'use $LONGHAUL_TOKEN, which names the operation',
  CI_NODE_INDEX: 'use `for-each` of the job, and $LONGHAUL_ITEM_INDEX, which counts from 0',
};
/** GitLab's other variables, by prefix. CI is set here too, and other names may start with CI_. */
const GITLAB_PREDEFINED =
  /^(CI_(API|BUILD|COMMIT|CONCURRENT|CONFIG|DEBUG|DEFAULT_BRANCH|DEPENDENCY_PROXY|DEPLOY|ENVIRONMENT|EXTERNAL_PULL_REQUEST|GITLAB|JOB|KUBERNETES|MERGE_REQUEST|NODE|OPEN_MERGE_REQUESTS|PAGES|PIPELINE|PROJECT|REGISTRY|RELEASE|REPOSITORY|RUNNER|SERVER|SHARED_ENVIRONMENT|TEMPLATE_REGISTRY|TRIGGER|UPSTREAM)(_|$)|GITLAB_USER_)/;

/** Hint for another system's variable; undefined for any other name. */
function unsupportedVariableMessage(name: string): string | undefined {
  if (Object.hasOwn(GITHUB, name))
    return `$${name} is a variable of GitHub Actions, not set here; ${GITHUB[name]}`;
  if (Object.hasOwn(GITLAB, name))
    return `$${name} is a variable of GitLab CI, not set here; ${GITLAB[name]}`;
  if (!GITLAB_PREDEFINED.test(name)) return undefined;
  return `$${name} is a variable of GitLab CI, not set here; ${name.startsWith('CI_RUNNER') ? RUNNER : AS_INPUT}`;
}

function each(message: string, names: string[]): Record<string, string> {
  return Object.fromEntries(
    names
      .join(' ')
      .split(' ')
      .map((name) => [name, message]),
  );
}

/** Checks of scripts for variables of other systems, which are empty here. */
import type { Report } from '../yaml/problems.js';
import { expandedVariables, isAssignedOrTested } from '../script-variables.js';
import { at, entriesOf, itemsOf, textsOf } from '../values.js';

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
        if (known.has(variable) || !FOREIGN.test(variable) || isAssignedOrTested(run, variable)) continue;
        const hint = INSTEAD[variable] ?? 'declare an input, and use its $INPUT_... variable';
        report(path, `$${variable} is a variable of another system, not set here; ${hint}`, {
          text: usedAs(run, variable),
        });
      }
    }
  }
}

/** The variable as the script writes it: `$NAME`, `${NAME`, or without a sign in another language. */
export function usedAs(run: string, variable: string): string {
  return new RegExp(String.raw`\$(\{[!#]?)?${variable}\b`).exec(run)?.[0] ?? variable;
}

/**
 * Variables that GitHub Actions and GitLab CI set. Scripts test GITHUB_ACTIONS, GITLAB_CI and CI to see where they run; names such as
 * GITHUB_TOKEN or CI_MODE may be the worker's own.
 */
const FOREIGN = new RegExp(
  [
    '^GITHUB_(ACTION|ACTOR|API_URL|BASE_REF|ENV|EVENT|GRAPHQL_URL|HEAD_REF|JOB|OUTPUT|PATH|REF|REPOSITORY)(_|$)',
    '^GITHUB_(RETENTION_DAYS|RUN|SERVER_URL|SHA|STATE|STEP_SUMMARY|TRIGGERING_ACTOR|WORKFLOW|WORKSPACE)(_|$)',
    '^RUNNER_(ARCH|DEBUG|ENVIRONMENT|NAME|OS|TEMP|TOOL_CACHE|WORKSPACE)$',
    '^CI_(API|BUILDS?|COMMIT|CONCURRENT|CONFIG|DEBUG|DEFAULT_BRANCH|DEPENDENCY_PROXY|DEPLOY|ENVIRONMENT)(_|$)',
    '^CI_(EXTERNAL_PULL_REQUEST|GITLAB|JOB|KUBERNETES|MERGE_REQUEST|NODE|OPEN_MERGE_REQUESTS|PAGES)(_|$)',
    '^CI_(PIPELINE|PROJECT|REGISTRY|RELEASE|REPOSITORY|RUNNER|SERVER|SHARED_ENVIRONMENT)(_|$)',
    '^CI_(TEMPLATE_REGISTRY|TRIGGER|UPSTREAM)(_|$)',
    '^GITLAB_USER_',
  ].join('|'),
);

const NEXT_STEPS =
  'variables end with their step: set it under `env`, or write it to a file of the workspace and read that in later steps';

const INSTEAD: Partial<Record<string, string>> = {
  GITHUB_ENV: NEXT_STEPS,
  GITHUB_PATH: NEXT_STEPS,
  GITHUB_OUTPUT: 'write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job',
  GITHUB_WORKSPACE: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  CI_PROJECT_DIR: 'use $LONGHAUL_WORKSPACE; scripts begin in it',
  RUNNER_TEMP: 'use $TMPDIR',
};

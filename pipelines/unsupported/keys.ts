/** Hints for keys that pipelines don't have: near misses, and keys of GitHub Actions and GitLab CI. */
import { hintForValue, looksLikeJob } from './values.js';
import { didYouMean, nearest } from '../../operations/json/near-names.js';
import { LEVELS, type Level } from '../schema.js';

const STARTED =
  'a pipeline starts when its tool is called: remove it; the arguments of a call are declared under `inputs`';
const MACHINE = "steps run on the worker's machine: remove it";
const ENVIRONMENT = 'use `env` for variables, and `approval` of a step to ask before it runs';
const NO_CONTAINER = `${MACHINE}, and call \`docker run\` or \`podman run\` in a script, or run the worker itself in that image`;
const NO_SERVICES =
  'start it in a script, as with `docker run --detach`, and stop it in a step with `if: always`: processes that a step leaves in the background end with it';
const NO_CACHE =
  "there is no cache: remove it; package managers keep theirs under the worker's $HOME from run to run, and other jobs get files as `artifacts`";
const BEFORE = 'write its commands as the first step of each job';
const AFTER = 'write its commands as a last step with `if: always`';
const NO_INCLUDES = 'files and jobs cannot include others: repeat it, or use an anchor and alias of YAML';
const WHEN_CALLED = 'a job runs in every call: decide in the script, by an input ($INPUT_...)';
const BY_STEPS = (key: string) => `steps and the pipeline have \`${key}\`: set it there`;
const CONDITION = 'use `if`: success, failure or always';
const RIGHTS = 'steps have the rights of the worker: remove it';
const SHELL = 'the shell is `bash -eo pipefail`: remove it, and call another in the script';
const NO_ACTIONS = 'there are no actions: write commands under `run`';
const USE_ENV = 'use `env`';

const INSTEAD: Record<Exclude<Level, 'output'>, Record<string, string>> = {
  pipeline: {
    on: STARTED,
    workflow_dispatch: STARTED,
    workflow_call: STARTED,
    schedule: STARTED,
    'run-name': 'use `name` and `description`',
    title: 'use `name` and `description`',
    permissions: RIGHTS,
    defaults: 'the shell is `bash -eo pipefail`; `working-directory` is set on each step',
    'runs-on': MACHINE,
    variables: USE_ENV,
    vars: USE_ENV,
    stages: 'use `jobs`; `needs` of a job gives the order',
    needs: 'a job has `needs`',
    strategy: 'a job has `for-each`',
    environment: ENVIRONMENT,
    timeout: 'use `timeout-minutes`',
    version: 'remove it',
    cache: NO_CACHE,
    container: NO_CONTAINER,
    image: NO_CONTAINER,
    services: NO_SERVICES,
    matrix: 'a job has `for-each`',
    stage: 'use `jobs`; `needs` of a job gives the order',
    before_script: BEFORE,
    after_script: AFTER,
    include: NO_INCLUDES,
    extends: NO_INCLUDES,
    default: `${NO_INCLUDES}; variables of all steps are set under \`env\``,
    workflow: STARTED,
    rules: STARTED,
    only: STARTED,
    except: STARTED,
    spec: 'use `inputs`',
    shell: SHELL,
    steps: 'it belongs to a job: put it under `jobs`, as jobs.build.steps',
    script: 'it belongs to a step of a job, as `run`: jobs.build.steps[0].run',
    run: 'it belongs to a step of a job: jobs.build.steps[0].run',
  },
  job: {
    name: "a job's key is its name: rename the key",
    'runs-on': MACHINE,
    strategy: 'use `for-each` with an input that is a list; `concurrency` of the pipeline bounds it',
    matrix: 'use `for-each` with an input that is a list',
    foreach: 'use `for-each`',
    parallel: 'use `for-each`, and `concurrency` of the pipeline',
    concurrency: 'the pipeline has `concurrency`, for all jobs',
    uses: `${NO_ACTIONS} of the job's steps`,
    with: 'a script reads inputs from INPUT_* variables: remove it',
    run: 'a script belongs to a step: put it under `steps`',
    script: 'a script belongs to a step, under `run`',
    container: NO_CONTAINER,
    image: NO_CONTAINER,
    services: NO_SERVICES,
    cache: NO_CACHE,
    permissions: RIGHTS,
    id_tokens: RIGHTS,
    environment: ENVIRONMENT,
    variables: USE_ENV,
    shell: SHELL,
    stage: 'use `needs`: the job begins once the jobs in it have succeeded',
    stages: 'use `needs`: the job begins once the jobs in it have succeeded',
    before_script: BEFORE,
    after_script: AFTER,
    only: WHEN_CALLED,
    except: WHEN_CALLED,
    rules: WHEN_CALLED,
    tags: `${MACHINE}; the worker can't be chosen here`,
    dependencies: 'a job gets the `artifacts` of all jobs in its `needs`: remove it',
    extends: NO_INCLUDES,
    inherit: NO_INCLUDES,
    default: NO_INCLUDES,
    trigger: 'a script can start another pipeline: `longhaul call NAME`',
    timeout: `${BY_STEPS('timeout-minutes')}, in minutes`,
    allow_failure: 'steps have `continue-on-error`: set it there',
    resource_group: 'operations always run side by side: take a lock in the script, as with `flock`',
    interruptible: 'only `longhaul cancel` ends a call: remove it',
    coverage: 'print it: the log is kept; or make it one of the `outputs`',
    release: 'call your forge in a script',
    pages: 'publish in a script',
    id: "a job's key is its name: remove it",
    defaults: 'the shell is `bash -eo pipefail`; `working-directory` is set on each step',
    secrets: 'the pipeline lists `secrets`, for all jobs',
    'timeout-minutes': BY_STEPS('timeout-minutes'),
    'continue-on-error': 'steps have `continue-on-error`: set it there',
    'working-directory': 'steps have `working-directory`: set it there',
    retry: 'steps have `retry`: set it there',
    approval: 'steps have `approval`: set it there',
    depends_on: 'use `needs`',
    dependsOn: 'use `needs`',
    when: CONDITION,
    condition: CONDITION,
  },
  step: {
    uses: NO_ACTIONS,
    with: 'a script reads inputs from INPUT_* variables, and others from `env`',
    id: 'remove it; use `name` for people, and files of the workspace for other steps',
    shell: SHELL,
    script: 'use `run`',
    command: 'use `run`',
    cmd: 'use `run`',
    timeout: 'use `timeout-minutes`',
    outputs: 'a script writes key=value to $LONGHAUL_OUTPUT; `outputs` of the job lists the keys',
    artifacts: 'the job has `artifacts`',
    needs: 'a job has `needs`; its steps run one after another',
    'for-each': 'a job has `for-each`',
    secrets: 'the pipeline lists `secrets`, for all steps',
    environment: USE_ENV,
    variables: USE_ENV,
    cwd: 'use `working-directory`',
    retries: 'use `retry: { attempts: 3 }`',
    'max-attempts': 'use `retry: { attempts: 3 }`',
    'allow-failure': 'use `continue-on-error`',
    when: CONDITION,
    condition: CONDITION,
    image: NO_CONTAINER,
    container: NO_CONTAINER,
    services: NO_SERVICES,
    cache: NO_CACHE,
    before_script: BEFORE,
    after_script: AFTER,
    allow_failure: 'use `continue-on-error`',
    strategy: 'a job has `for-each`',
    matrix: 'a job has `for-each`',
    permissions: RIGHTS,
    'runs-on': MACHINE,
  },
  queue: {
    limit: 'use `concurrency`',
    max: 'use `concurrency`',
    perCaller: 'use `per-caller`',
    maxWaiting: 'use `max-waiting`',
    group: 'use `name`',
    timeout: 'use `wait-minutes`',
  },
  retry: {
    times: 'use `attempts`, which counts the first one too',
    max: 'use `attempts`',
    delay: 'use `backoff`, in seconds',
    'backoff-seconds': 'use `backoff`, in seconds',
    'max-attempts': 'use `attempts`',
  },
  approval: {
    inputs: 'use `fields`',
    schema: 'use `fields`',
    question: 'use `message`',
    prompt: 'use `message`',
    roles: 'use `approvers`',
    reviewers: 'use `approvers`',
    approver: 'use `approvers`, a list',
    fourEyes: 'use `four-eyes`',
    four_eyes: 'use `four-eyes`',
  },
  schema: {
    options: 'use `enum`',
    choices: 'use `enum`',
    values: 'use `enum`',
    min: 'use `minimum`, `minLength` or `minItems`',
    max: 'use `maximum`, `maxLength` or `maxItems`',
    regex: 'use `pattern`',
    optional: 'fields that `required`, next to `properties`, does not list are optional',
    nullable: 'use `type: [string, "null"]`',
    deprecationMessage: 'use `description` and `deprecated`',
    $ref: 'write the schema out, or use an anchor and alias of YAML',
    $defs: 'write the schema out, or use an anchor and alias of YAML',
    definitions: 'write the schema out, or use an anchor and alias of YAML',
    $schema: 'schemas are JSON Schema 2020-12: remove it',
    $id: 'remove it',
    $comment: 'use a comment of YAML',
  },
};

/** Hint for an unknown key: its right place, another name, or the known keys. */
export function hintForKey(level: Level, key: string, value: unknown): string {
  const own = Object.keys(LEVELS[level]);
  const foreign = INSTEAD[level === 'output' ? 'schema' : level];
  const byValue = hintForValue(level, key, value);
  if (byValue !== undefined) return byValue;
  if (Object.hasOwn(foreign, key)) return foreign[key]!;
  if (level === 'pipeline' && looksLikeJob(value))
    return `jobs belong under \`jobs\`: indent it there, as jobs.${key}`;
  const near = nearest(key, own);
  if (near !== undefined) return didYouMean(key, own).slice(2);
  for (const other of ['pipeline', 'job', 'step'] as const)
    if (Object.hasOwn(LEVELS[other], key) && !SCHEMAS.has(level)) return `it belongs to a ${other}`;
  const known = SCHEMAS.has(level) ? ['type', 'description', 'default', 'enum', 'properties', 'items'] : own;
  return `${SCHEMAS.has(level) ? 'common ones are' : 'known are'} ${known.join(', ')}`;
}

const SCHEMAS: ReadonlySet<Level> = new Set(['schema', 'output']);

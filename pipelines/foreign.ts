/** Keys that pipelines don't have, and what to use instead: those of GitHub Actions, and others that come to mind. */
import { didYouMean, nearest } from './problems.js';
import { LEVELS, type Level } from './schema.js';

const STARTED =
  'a pipeline starts when its tool is called: remove it; what a call gives stands under `inputs`';
const MACHINE = "steps run on the worker's machine: remove it";
const ENVIRONMENT = 'use `env` for variables, and `approval` of a step to ask before it runs';
const NO_CONTAINER = `${MACHINE}, or call your container engine in a script`;
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
    run: 'a script stands in a step: put it under `steps`',
    script: 'a script stands in a step, under `run`',
    container: NO_CONTAINER,
    image: NO_CONTAINER,
    services: NO_CONTAINER,
    permissions: RIGHTS,
    environment: ENVIRONMENT,
    variables: USE_ENV,
    defaults: 'the shell is `bash -eo pipefail`; `working-directory` is set on each step',
    secrets: 'the pipeline lists `secrets`, for all jobs',
    'timeout-minutes': 'steps and the pipeline have `timeout-minutes`: set it there',
    'continue-on-error': 'steps have `continue-on-error`: set it there',
    'working-directory': 'steps have `working-directory`: set it there',
    retry: 'steps have `retry`: set it there',
    approval: 'steps have `approval`: set it there',
    depends_on: 'use `needs`',
    dependsOn: 'use `needs`',
    when: 'use `if`: success, failure or always',
    condition: 'use `if`: success, failure or always',
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
    when: 'use `if`: success, failure or always',
    condition: 'use `if`: success, failure or always',
    image: NO_CONTAINER,
    'runs-on': MACHINE,
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
    approvers: 'whoever may see the operation may answer: remove it',
  },
  schema: {
    options: 'use `enum`',
    choices: 'use `enum`',
    values: 'use `enum`',
    min: 'use `minimum`, `minLength` or `minItems`',
    max: 'use `maximum`, `maxLength` or `maxItems`',
    regex: 'use `pattern`',
    optional: 'what `required`, beside `properties`, does not list is optional',
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

/** What a message says about a key that isn't one: another place, another name, or the keys that there are. */
export function insteadOf(level: Level, key: string): string {
  const own = Object.keys(LEVELS[level]);
  const foreign = INSTEAD[level === 'output' ? 'schema' : level];
  if (Object.hasOwn(foreign, key)) return foreign[key]!;
  const near = nearest(key, own);
  if (near !== undefined) return didYouMean(key, own).slice(2);
  for (const other of ['pipeline', 'job', 'step'] as const)
    if (Object.hasOwn(LEVELS[other], key) && !SCHEMAS.has(level)) return `it belongs to a ${other}`;
  const known = SCHEMAS.has(level) ? ['type', 'description', 'default', 'enum', 'properties', 'items'] : own;
  return `${SCHEMAS.has(level) ? 'common ones are' : 'known are'} ${known.join(', ')}`;
}

const SCHEMAS: ReadonlySet<Level> = new Set(['schema', 'output']);

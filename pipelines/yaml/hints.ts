/** Hints for unknown keys and misplaced parts of schemas in pipelines. */
import { isObject } from '../../operations/json/is-object.js';
import { didYouMean, nearest } from '../../operations/json/near-names.js';
import type { Hints } from './issues.js';
import { formatKeyPath, type KeyPath } from './problems.js';
import { LEVELS, type Level } from '../schema.js';
import { at } from '../values.js';

export const PIPELINE_HINTS: Hints = { ofKey: insteadOf, ofValue: hintOf };

const MACHINE = "steps run on the worker's machine: remove it";
const CONTAINER = `${MACHINE}, and call \`docker run\` in a script`;
const STAGES = 'use `jobs`; `needs` of a job gives the order';
const FOR_EACH = 'use `for-each` of a job, with an input that is a list';

const SCHEDULE =
  'cron runs `longhaul call NAME --detach`, or a Temporal Schedule starts it with what `longhaul sign` prints';
const CONDITION = 'test it in the script; `if` of a job or step is success, failure or always';
const TURNS = 'use `queue: { concurrency: 1 }` at the top of the file: runs of the pipeline take turns';

/** Common keys of GitHub Actions and GitLab CI. */
const FOREIGN: Partial<Record<string, string>> = {
  on: 'a pipeline starts when its tool is called: remove it; the arguments of a call are declared under `inputs`',
  schedule: SCHEDULE,
  rules: CONDITION,
  only: CONDITION,
  except: CONDITION,
  when: 'use `approval` of a step for `manual`, and `if` (success, failure, always) for the others',
  resource_group: TURNS,
  concurrency: TURNS,
  allow_failure: 'use `continue-on-error` of a step',
  before_script: 'write it as the first step',
  after_script: 'write it as a last step with `if: always`',
  'runs-on': MACHINE,
  container: CONTAINER,
  image: CONTAINER,
  services: 'start it in a script, as with `docker run --detach`, and stop it in a step with `if: always`',
  uses: "there are no actions: write commands under `run` of a job's steps",
  with: 'a script reads inputs from INPUT_* variables, and others from `env`',
  script: 'write it as `run` of a step: jobs.build.steps[0].run',
  shell: 'the shell is `bash -eo pipefail`: remove it, and call another in the script',
  stages: STAGES,
  stage: STAGES,
  strategy: FOR_EACH,
  matrix: FOR_EACH,
  cache: "there is no cache: remove it; package managers keep theirs under the worker's $HOME",
  permissions: 'steps have the rights of the worker: remove it',
  environment: 'use `env` for variables, and `approval` of a step to ask before it runs',
  variables: 'use `env`',
  timeout: 'use `timeout-minutes`',
  name: "a job's key is its name: rename the key",
  id: 'remove it: steps of a job share the files of its workspace',
};

function insteadOf(path: KeyPath, key: string, value: unknown): string {
  const level = levelOf(path);
  if (isObjectSchema(path) && (isObject(value) || value === null)) return underProperties(path, key);
  const isSchema = level === 'schema' || level === 'output';
  if (value === null && (isSchema || level === 'approval')) return CUT_OFF;
  const own = Object.keys(LEVELS[level]);
  const near = nearest(key, own) !== undefined && didYouMean(key, own).slice(2);
  if (isSchema)
    return (
      near || 'common ones are type, description, default, enum, properties, items; there are no references'
    );
  if (key === 'on' && at(value, 'schedule') !== undefined) return `${FOREIGN.on}; ${SCHEDULE}`;
  const foreign = Object.hasOwn(FOREIGN, key) ? FOREIGN[key] : undefined;
  return foreign ?? (near || placeOf(level, key) || `known are ${own.join(', ')}`);
}

function placeOf(level: Level, key: string): string | undefined {
  const places = ['pipeline', 'job', 'step'] as const;
  const place = places.some((one) => one === level) && places.find((one) => Object.hasOwn(LEVELS[one], key));
  return place ? `it belongs to a ${place}` : undefined;
}

function hintOf(path: KeyPath, value: unknown): string | undefined {
  const [above, key] = [path.slice(0, -1), path.at(-1)];
  const level = levelOf(above);
  if (level === 'pipeline' && key === 'concurrency' && isObject(value)) return TURNS;
  if (key === 'if' && typeof value === 'string') return hintOfCondition(value);
  if (level !== 'schema' && level !== 'output') return undefined;
  if (isObjectSchema(above) && isObject(value)) return underProperties(above, String(key));
  return key === 'required' ? 'list the required names in `required`, next to `properties`' : undefined;
}

/** GitHub's conditions -> the words of pipelines. */
function hintOfCondition(value: string): string {
  if (/!\s*cancelled\(\)|always\(\)|[Cc]ancell?ed/.test(value))
    return 'write `always`: such steps also run after a cancel, those of running jobs';
  const [, word] = /^\W*(success|failure)\(\)\W*$/.exec(value) ?? [];
  return word === undefined ? 'there are no expressions: test it in the script' : `write \`${word}\``;
}

/** In `{ description: one, two }`, "two" is a key. */
export const CUT_OFF = 'text that contains a comma needs quotes within braces';

function underProperties(path: KeyPath, key: string): string {
  return `put it under \`properties\`: ${formatKeyPath([...path, 'properties', key])}`;
}

/** Whether it's `inputs` or an approval's `fields`: people often forget the object schema's `properties`. */
function isObjectSchema(path: KeyPath): boolean {
  return (path.length === 1 && path[0] === 'inputs') || (path.length === 6 && path[5] === 'fields');
}

function levelOf(path: KeyPath): Level {
  const [top, , steps, , part] = path;
  if (path.length === 0) return 'pipeline';
  if (top === 'outputs' && path.length === 2) return 'output';
  if (top === 'queue' && path.length === 1) return 'queue';
  if (top !== 'jobs') return 'schema';
  if (path.length === 2) return 'job';
  if (path.length === 4 && steps === 'steps') return 'step';
  return path.length === 5 && (part === 'retry' || part === 'approval') ? part : 'schema';
}

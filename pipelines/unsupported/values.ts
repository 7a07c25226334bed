/** Hints for other systems' keys that depend on the key's value. */
import { isObject } from '../../operations/json/is-object.js';
import { at, entriesOf, itemsOf } from '../values.js';
import type { Level } from '../schema.js';

const CALL = 'a pipeline starts when its tool is called: remove it';

/** Hint for a key by its value; undefined if the key alone decides. */
export function hintForValue(level: Level, key: string, value: unknown): string | undefined {
  if (level === 'pipeline' && key === 'on') return insteadOfEvents(value);
  if (level === 'step' && key === 'uses' && typeof value === 'string') return insteadOfAction(value);
  return undefined;
}

function insteadOfEvents(value: unknown): string | undefined {
  const events = typeof value === 'string' ? [value] : isObject(value) ? Object.keys(value) : itemsOf(value);
  const hints: string[] = [];
  if (events.includes('schedule'))
    hints.push(
      'for a schedule, have cron run `longhaul call NAME --detach`, or a Temporal Schedule start a workflow that calls the tool',
    );
  if (events.some((event) => event === 'workflow_dispatch' || event === 'workflow_call'))
    hints.push('its `inputs` are declared under `inputs.properties` at the top of the file');
  if (events.some((event) => ['push', 'pull_request', 'release'].includes(String(event))))
    hints.push('no repository is watched: have its own CI or a webhook call the tool');
  return hints.length > 0 ? `${CALL}; ${hints.join('; ')}` : undefined;
}

const ACTIONS: [action: RegExp, instead: string][] = [
  [/^actions\/checkout\b/, 'the workspace is empty at first: `run: git clone --depth 1 URL .`'],
  [/^actions\/upload-artifact\b/, 'list the files under `artifacts` of the job'],
  [
    /^actions\/download-artifact\b/,
    'name the job in `needs`: its artifacts are under $LONGHAUL_ARTIFACTS/JOB/',
  ],
  [
    /^actions\/cache\b/,
    "there is no cache; package managers keep theirs under the worker's $HOME from run to run",
  ],
  [/^[\w-]+\/setup-[\w-]+/, "install the tool on the worker's machine, or in a script"],
  [/^docker:\/\//, 'call `docker run` or `podman run` under `run`'],
];

function insteadOfAction(action: string): string | undefined {
  const instead = ACTIONS.find(([pattern]) => pattern.test(action))?.[1];
  return instead && `there are no actions; ${instead}`;
}

const OF_JOBS = ['steps', 'script', 'stage', 'runs-on', 'run', 'needs', 'extends', 'trigger'];

export function looksLikeJob(value: unknown): boolean {
  return OF_JOBS.some((key) => at(value, key) !== undefined);
}

/** Hint for a value in another system's form, or with a YAML mistake. */
export function hintForForm(level: Level, key: string, value: unknown): string | undefined {
  return FORMS[`${level}.${key}`]?.(value);
}

const FORMS: Partial<Record<string, (value: unknown) => string | undefined>> = {
  'pipeline.secrets': (value) =>
    isObject(value) ? `list only the names: secrets: ${listOf(Object.keys(value))}` : undefined,
  'pipeline.jobs': (value) =>
    Array.isArray(value) ? 'write each job under its name, as `build: { steps: [...] }`' : undefined,
  'job.outputs': (value) =>
    isObject(value)
      ? `list only the keys: outputs: ${listOf(Object.keys(value))}; a script writes key=value to "$LONGHAUL_OUTPUT"`
      : undefined,
  'job.artifacts': (value) => {
    const paths = itemsOf(at(value, 'paths')).filter((path) => typeof path === 'string');
    return isObject(value) ? `list only the paths: artifacts: ${listOf(paths)}` : undefined;
  },
  'job.steps': (value) => {
    const [first] = entriesOf(value);
    if (first?.[0].startsWith('-')) return `write a space after the dash: \`- ${first[0].slice(1)}\``;
    if (first) return 'begin each step with a dash: `- run: ...`';
    return typeof value === 'string' ? `write \`- run: ${value.slice(0, 40)}\`` : undefined;
  },
  'step.run': (value) =>
    Array.isArray(value) ? 'write `run: |`, and a line for each command below it' : undefined,
};

/** Hint for a step or job that isn't a map. */
export function hintForText(kind: 'job' | 'step', name: string, value: unknown): string | undefined {
  if (kind === 'job') {
    if (value === null) return `indent its keys deeper than \`${name}\``;
    if (!Array.isArray(value)) return undefined;
    return name === 'steps'
      ? '`steps` is at the level of the jobs: indent it deeper than the name of its job'
      : `put the list under \`steps\`: jobs.${name}.steps`;
  }
  if (typeof value !== 'string') return undefined;
  const [, key, rest] = /^([a-z-]+):(\S.*)$/s.exec(value) ?? [];
  return key === undefined
    ? `write \`- run: ${value.slice(0, 40)}\``
    : `write a space after the colon: \`${key}: ${rest!.slice(0, 40)}\``;
}

function listOf(names: unknown[]): string {
  return `[${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''}]`;
}

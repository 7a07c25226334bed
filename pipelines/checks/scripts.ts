/**
 * Checks of scripts, and findings: what bash takes without a word, but not as it is meant. Scripts can't be understood completely, so the
 * pipeline is served in spite of findings.
 */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { didYouMean } from '../../operations/json/near-names.js';
import { approvalVariable, inputVariable } from '../names.js';
import { expandedVariables, isAssignedOrTested } from '../script-variables.js';
import { at, entriesOf, stepsIn, textsOf } from '../values.js';
import type { KeyPath, Report } from '../yaml/problems.js';

/** A step's script, and what its file says about it. */
interface Script {
  /** Path of the file. */
  file: string;
  pipeline: unknown;
  job: unknown;
  jobName: string;
  step: unknown;
  run: string;
  /** The script's commands: without comments and here-documents. */
  commands: string;
  /** Scripts of the earlier steps of its job. */
  earlier: string[];
}

/** A message, and the text that it is about. */
type Finding = [text: string, message: string];

export function findInScripts(pipeline: unknown, file: string, report: Report): void {
  findInTexts(pipeline, [], ['env'], report);
  for (const [jobName, job] of entriesOf(at(pipeline, 'jobs')))
    findInTexts(job, ['jobs', jobName], ['env'], report);
  const scripts = new Map<string, string[]>();
  for (const { jobName, job, step, path } of stepsIn(pipeline)) {
    findInTexts(step, path, ['env', 'approval'], report);
    const run = at(step, 'run');
    if (typeof run !== 'string') continue;
    const earlier = scripts.get(jobName) ?? [];
    const script = { file, pipeline, job, jobName, step, run, commands: commandsOf(run), earlier };
    for (const find of FINDERS)
      for (const [text, message] of find(script)) report([...path, 'run'], message, { text });
    scripts.set(jobName, [...earlier, run]);
  }
}

/** Names of the variables that a step gets from its file. */
function declaredFor(pipeline: unknown, job: unknown, step: unknown): string[] {
  const env = [pipeline, job, step].flatMap((owner) => entriesOf(at(owner, 'env')).map(([name]) => name));
  return [...env, ...textsOf(at(pipeline, 'secrets')).map(([, name]) => name)];
}

const FINDERS: ((script: Script) => Finding[])[] = [
  variables,
  outputs,
  expressions,
  workflowCommands,
  interpreter,
  reads,
  backgrounds,
  projectFiles,
];

const EXPANSION = /\$\{?[A-Za-z_]\w*\}?|\$\(|^~\//;

/** Texts beside the script, in which bash expands nothing. */
function findInTexts(owner: unknown, path: KeyPath, keys: string[], report: Report): void {
  for (const key of keys)
    for (const [name, text] of entriesOf(at(owner, key))) {
      if (typeof text !== 'string' || !(key === 'env' || name === 'message')) continue;
      const place = [...path, key, name];
      const [found] = EXPANSION.exec(text) ?? EXPRESSION.exec(text) ?? [];
      const cure =
        key === 'env' ? `set it in the script: ${name}="${text}"` : 'the question is shown as written';
      if (found !== undefined)
        report(place, `nothing is expanded here, so ${found} stays as written; ${cure}`, 'value');
    }
}

function commandsOf(run: string): string {
  return run
    .replace(/(<<-?[ \t]*(['"]?)(\w+)\2[^\n]*\n)[\s\S]*?\n[ \t]*\3(?=\n|$)/g, '$1')
    .replace(/(^|\s)#(?!!).*$/gm, '$1');
}

/** Variables that are read: `$NAME`, and those that programs in the script read from their environment. */
function variablesOf(run: string): Set<string> {
  const read = run.matchAll(
    /(?:\benv\.|\benv(?:iron)?\[['"]|getenv\(['"]|environ\.get\(['"])([A-Za-z_]\w*)/gi,
  );
  return new Set([...expandedVariables(run), ...[...read].map(([, name]) => name!)]);
}

function variables(script: Script): Finding[] {
  const { run, pipeline, job, step } = script;
  const declared = declaredFor(pipeline, job, step);
  const unset = [...variablesOf(run)].filter(
    (name) => !declared.includes(name) && !isAssignedOrTested(run, name),
  );
  return unset.flatMap((name) => {
    const reason = whyUnset(name, script);
    const isShell = /\$/.test(usedAs(run, name));
    return reason === undefined
      ? []
      : [[usedAs(run, name), `${isShell ? '$' : ''}${name} is not set here; ${reason}`]];
  });
}

function whyUnset(name: string, { pipeline, job, step, earlier, run }: Script): string | undefined {
  if (name.startsWith('INPUT_'))
    return unknownIn(name, at(pipeline, 'inputs'), inputVariable, 'declare it under inputs.properties');
  if (name.startsWith('APPROVAL_')) {
    const fields = at(at(step, 'approval'), 'fields');
    return unknownIn(
      name,
      fields,
      approvalVariable,
      "answers are variables of the step that asks, by its approval's fields",
    );
  }
  if (name.startsWith('LONGHAUL_')) return unknownOfLonghaul(name, at(job, 'for-each') !== undefined);
  if (TOKEN.test(name)) return `list ${name} under \`secrets\``;
  const jobs = entriesOf(at(pipeline, 'jobs'));
  const writer = jobs.find(([, one]) => textsOf(at(one, 'outputs')).some(([, key]) => key === name));
  if (writer)
    return writer[1] === job
      ? 'outputs are no variables: write it to a file of the workspace too, and read that'
      : `outputs of other jobs are no variables: write it to a file under \`artifacts\` of ${writer[0]}, and read that under $LONGHAUL_ARTIFACTS/${writer[0]}/`;
  const isSet = earlier.some((one) => new RegExp(String.raw`(^|[\s;])(export\s+)?${name}=`, 'm').test(one));
  if (isSet && !/(^|[\s;&])(source|\.|eval)\s/m.test(run))
    return 'variables end with their step: set it under `env`, or write it to a file of the workspace and read that';
  return undefined;
}

/** Tokens that GitHub Actions and GitLab CI give, and no worker. */
const TOKEN = /^(GITHUB_TOKEN|GH_TOKEN|CI_\w*TOKEN)$/;

/** Keywords with which a schema may take properties that it doesn't list. */
const OPEN = [
  'additionalProperties',
  'patternProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'if',
  'dependentSchemas',
];

function unknownIn(
  name: string,
  schema: unknown,
  variableOf: (key: string) => string,
  cure: string,
): string | undefined {
  const known = entriesOf(at(schema, 'properties')).map(([key]) => variableOf(key));
  if (known.includes(name) || OPEN.some((key) => at(schema, key))) return undefined;
  return didYouMean(name, known).slice(2) || cure;
}

const OF_STEPS = ['TOKEN', 'JOB', 'STEP', 'ATTEMPT', 'INPUTS', 'OUTPUT', 'ARTIFACTS', 'WORKSPACE', 'PROJECT'];
const OF_ITEMS = ['LONGHAUL_ITEM', 'LONGHAUL_ITEM_INDEX'];

function unknownOfLonghaul(name: string, isForEach: boolean): string | undefined {
  const known = [...OF_STEPS.map((one) => `LONGHAUL_${one}`), ...(isForEach ? OF_ITEMS : [])];
  if (known.includes(name)) return undefined;
  if (OF_ITEMS.includes(name)) return 'only jobs with `for-each` have it';
  const [, secret] = /^LONGHAUL_SECRET_(\w+)$/.exec(name) ?? [];
  if (secret !== undefined) return `list ${secret} under \`secrets\`, and use $${secret}`;
  return didYouMean(name, known).slice(2) || `known are ${known.join(', ')}`;
}

const FILE = String.raw`["']?\$\{?LONGHAUL_OUTPUT\}?["']?`;
const KEY = /^\s*(?:(?:echo|printf)\s+(?:-\w+\s+)?)?["']?([A-Za-z_][\w-]*)(?:=|<<)/;
/** Writes to $LONGHAUL_OUTPUT: by a line, a group of commands, or a here-document. */
const WRITES = [
  new RegExp(String.raw`^(.*?)(?:>>?|\|\s*tee\s+-a)\s*${FILE}`, 'gm'),
  new RegExp(String.raw`\{\s([^{}]*)\}\s*>>?\s*${FILE}`, 'g'),
  new RegExp(String.raw`cat\s*>>?\s*${FILE}\s*<<-?\s*["']?\w+["']?\n([^]*?)\n\s*[A-Z_]+\s*$`, 'gm'),
];

function outputs({ run, job, jobName }: Script): Finding[] {
  const listed = textsOf(at(job, 'outputs')).map(([, key]) => key);
  const written = WRITES.flatMap((pattern) => [...run.matchAll(pattern)])
    .flatMap(([, text]) => text!.split(/\n|;|&&/))
    .flatMap((line) => KEY.exec(line)?.slice(1) ?? []);
  return [...new Set(written)]
    .filter((key) => !listed.includes(key))
    .map((key) => [
      new RegExp(`\\b${key}(=|<<)`).exec(run)![0],
      `writes the output ${key}, which the job doesn't list, so it is dropped${didYouMean(key, listed) || `; add it to jobs.${jobName}.outputs`}`,
    ]);
}

/** `{{ inputs.date }}` and GitLab's `$[[ inputs.date ]]`; templates of other programs begin with a point. */
const EXPRESSION =
  /(?:\{\{-?|\$\[\[)\s*(?:inputs?|params|env|secrets|steps|needs|jobs?|matrix|github|vars|item|outputs)(?:[.[][^}\n]*)?(?:\}\}|\]\])/;

function expressions({ run }: Script): Finding[] {
  const [found] = EXPRESSION.exec(run) ?? [];
  if (found === undefined) return [];
  return [
    [
      found,
      `${found}: there are no expressions; use variables in the script: $INPUT_..., secrets and \`env\``,
    ],
  ];
}

const COMMAND =
  /(?<!\w)::(set-output|add-mask|group|endgroup|error|warning|notice|debug|save-state|set-env|add-path|stop-commands)(?:\s[^:\n]*)?::|##vso\[|\bsection_start:/;

const COMMAND_CURES: Partial<Record<string, string>> = {
  'set-output': 'write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job',
  'add-mask': 'the value stays in the log: only `secrets` are masked',
  'set-env': 'set the variable under `env`',
  'add-path': 'set PATH in the script',
};

function workflowCommands({ run }: Script): Finding[] {
  const [found, name = ''] = COMMAND.exec(run.replace(/(^|\s)#.*$/gm, '')) ?? [];
  if (found === undefined) return [];
  const cure = COMMAND_CURES[name] ?? 'remove it, or write plain text';
  return [[found, `${found} is a command of another system, printed here like any text; ${cure}`]];
}

function interpreter({ run }: Script): Finding[] {
  const [line, name] = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(?:\S*\/)?([\w.]+).*/.exec(run) ?? [];
  if (line === undefined || /^(ba|da)?sh$/.test(name!)) return [];
  return [
    [line, `the shell is bash, and ${line} is a comment to it; write ${name} <<'END', the lines, and END`],
  ];
}

/** A step's standard input is empty. A `read` in a loop, behind a pipe or with a file has another. */
function reads({ commands }: Script): Finding[] {
  const [, found] = /^[ \t]*((?:read|select)\s(?![^\n]*<)[^\n|;&]*)/m.exec(commands) ?? [];
  if (found === undefined || /\b(while|until|for)\b|[|]\s*\{|done\s*</.test(commands)) return [];
  const cure = 'declare an input, or ask with `approval` and its `fields`';
  return [
    [
      found.trim(),
      `nobody can type here: standard input is empty, and ${found.split(/\s/)[0]} fails; ${cure}`,
    ],
  ];
}

function backgrounds({ commands }: Script): Finding[] {
  const last = commands.trim().split('\n').at(-1)!.trim();
  if (!/[^&>]&$|^(nohup|setsid)\s[^;]*$/.test(last)) return [];
  const cure = 'use it in the same step, or start a service of the system, as with `docker run --detach`';
  return [[last, `background processes end with their step; ${cure}`]];
}

const STARTED =
  /(?:^|[;&|]|&&|\bthen|\bdo)\s*(?:(?:python[\d.]*|node|tsx|deno run|ruby|perl|php|Rscript|bash|sh|source|\.)\s+(?:-\w+\s+)*|(?=\.\/))((?:\.{1,2}\/)*[\w][\w./-]*\.\w+)/gm;
/** Commands that bring files into the workspace. */
const FETCHES = /\b(git|curl|wget|tar|unzip|cp|mv|rsync|scp|aws|gsutil|docker|npm|npx|cd)\s/;

/** Files that scripts start and that lie in the project, not in the workspace. */
function projectFiles({ file, run, commands, step, earlier }: Script): Finding[] {
  if (at(step, 'working-directory') !== undefined || FETCHES.test([...earlier, commands].join('\n')))
    return [];
  return [...commands.matchAll(STARTED)].flatMap(([, name]): Finding[] => {
    const path = name!.replace(/^\.\//, '');
    const isWritten = [...earlier, run].some((one) =>
      new RegExp(`>\\s*\\S*${path.replaceAll('.', '\\.')}`).test(one),
    );
    const folder = ['..', '.'].find((one) => existsSync(join(dirname(file), one, path)));
    if (isWritten || folder === undefined) return [];
    const within = folder === '..' ? path : join(dirname(normalize(file)).split('/').at(-1)!, path);
    return [
      [
        name!,
        `scripts run in a workspace that is empty at first, without ${name}; the project's file is "$LONGHAUL_PROJECT/${within}"`,
      ],
    ];
  });
}

/** Checks scripts for variables of other systems, which are empty here. */
export function checkScripts(file: unknown, report: Report): void {
  for (const { job, step, path } of stepsIn(file)) {
    const run = at(step, 'run');
    if (typeof run !== 'string') continue;
    const declared = new Set(declaredFor(file, job, step));
    for (const variable of expandedVariables(run)) {
      if (declared.has(variable) || !FOREIGN.test(variable) || isAssignedOrTested(run, variable)) continue;
      const hint = INSTEAD[variable] ?? 'declare an input, and use its $INPUT_... variable';
      report([...path, 'run'], `$${variable} is a variable of another system, not set here; ${hint}`, {
        text: usedAs(run, variable),
      });
    }
  }
}

/** The variable as the script writes it: `$NAME`, `${NAME`, or without a sign in another language. */
function usedAs(run: string, variable: string): string {
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

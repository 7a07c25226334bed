/** Files as users of GitHub Actions and GitLab CI write them. Every message says where, what came, what to write instead. */
import { describe, expect, test } from '@jest/globals';
import { among, JOBS, only, problemsOf, top, withStep } from './language-support.js';

const job = (text: string) =>
  `jobs:\n  build:\n    steps: [{ run: make }]\n    ${text.replaceAll('\n', '\n    ')}\n`;
const script = (text: string) =>
  `jobs:\n  build:\n    steps:\n      - run: |\n          ${text.replaceAll('\n', '\n          ')}\n`;

const STARTED = 'a pipeline starts when its tool is called: remove it';
const NO_CACHE =
  "there is no cache: remove it; package managers keep theirs under the worker's $HOME from run to run, and other jobs get files as `artifacts`";
const NO_INCLUDES = 'files and jobs cannot include others: repeat it, or use an anchor and alias of YAML';
const WHEN_CALLED = 'a job runs in every call: decide in the script, by an input ($INPUT_...)';

describe('keys of GitHub Actions', () => {
  const step = 'jobs.build.steps[0]';
  test.each([
    [
      'a schedule',
      top("▸on:\n  schedule:\n    - cron: '0 3 * * *'"),
      `on: unknown key; ${STARTED}; for a schedule, have cron run \`longhaul call NAME --detach\`, or a Temporal Schedule start a workflow that calls the tool`,
    ],
    [
      'inputs of a dispatch',
      top('▸on:\n  workflow_dispatch:\n    inputs: { version: { type: string } }'),
      `on: unknown key; ${STARTED}; its \`inputs\` are declared under \`inputs.properties\` at the top of the file`,
    ],
    [
      'steps without a job',
      `▸steps:\n  - run: make\n${JOBS}`,
      'steps: unknown key; it belongs to a job: put it under `jobs`, as jobs.build.steps',
    ],
    ['a cache of a job', job('▸cache: npm'), `jobs.build.cache: unknown key; ${NO_CACHE}`],
    [
      'the cache action',
      withStep('▸uses: actions/cache@v4'),
      `${step}.uses: unknown key; there are no actions; there is no cache; package managers keep theirs under the worker's $HOME from run to run`,
    ],
    [
      'any other action',
      withStep('▸uses: me/mine@v1'),
      `${step}.uses: unknown key; there are no actions: write commands under \`run\``,
    ],
    [
      'jobs as a list',
      '▸jobs:\n  - steps: [{ run: make }]'.replace('▸', '').replace('- steps', '▸- steps'),
      'jobs: expected a map of names and jobs; got a list; write each job under its name, as `build: { steps: [...] }`',
    ],
    [
      'a job as a list of steps',
      'jobs:\n  build: ▸[{ run: make }]',
      'jobs.build: expected a job: a map with `steps`; got a list; put the list under `steps`: jobs.build.steps',
    ],
  ])('%s', (_, text, message) => only(text, message));
});

describe('keys of GitLab CI', () => {
  test.each([
    ['stages', top('▸stages: [build]'), 'stages: unknown key; use `jobs`; `needs` of a job gives the order'],
    ['includes', top('▸include: other.yml'), `include: unknown key; ${NO_INCLUDES}`],
    [
      'a job at the top',
      top('▸test:\n  script: [npm test]'),
      'test: unknown key; jobs belong under `jobs`: indent it there, as jobs.test',
    ],
    [
      'a script of a job',
      job('▸script: [npm test]'),
      'jobs.build.script: unknown key; a script belongs to a step, under `run`',
    ],
    ['only', job('▸only: [main]'), `jobs.build.only: unknown key; ${WHEN_CALLED}`],
  ])('%s', (_, text, message) => only(text, message));
});

describe('variables and commands of scripts', () => {
  const at = 'jobs.build.steps[0].run';
  const GITHUB = 'is a variable of GitHub Actions, not set here';
  const AS_INPUT = 'no repository starts a pipeline: declare an input, and use its $INPUT_... variable';
  const NEXT_STEPS =
    'variables end with their step: set it under `env`, or write it to a file of the workspace and read that in later steps';
  test.each([
    ['echo "A=1" >> ▸$GITHUB_ENV', `$GITHUB_ENV ${GITHUB}; ${NEXT_STEPS}`],
    [
      'make\necho "a=1" >> "▸$GITHUB_OUTPUT"',
      `$GITHUB_OUTPUT ${GITHUB}; write key=value to "$LONGHAUL_OUTPUT", and list the key under \`outputs\` of the job`,
    ],
    ['x="$(git show "▸${GITHUB_SHA:0:8}")"', `$GITHUB_SHA ${GITHUB}; ${AS_INPUT}`],
    ["cat <<END\nit's ▸$GITHUB_REF\nEND", `$GITHUB_REF ${GITHUB}; ${AS_INPUT}`],
    ['echo ▸$CI_COMMIT_SHA', `$CI_COMMIT_SHA is a variable of GitLab CI, not set here; ${AS_INPUT}`],
    [
      'echo "▸::set-output name=a::b"',
      '::set-output is a command of GitHub Actions, without effect here; write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job',
    ],
  ])('%s', (text, message) => only(script(text), `${at}: ${message}`));

  test.each([
    ['a variable that the script sets', 'GITHUB_OUTPUT=$(mktemp)\necho a >> "$GITHUB_OUTPUT"'],
    ['one that it reads', 'read -r GITHUB_SHA < file; echo "$GITHUB_SHA"'],
    ['one that has a default', 'echo "${GITHUB_REF:-main}"'],
    ['one that is tested for', 'if [ -n "$GITHUB_ENV" ]; then echo a >> "$GITHUB_ENV"; fi'],
    [
      'a question which system it is',
      'if [ "$GITHUB_ACTIONS" = true ] || [ "$GITLAB_CI" = true ]; then exit; fi',
    ],
    ['one in a comment', '# echo >> $GITHUB_ENV\nmake'],
    ['one that is quoted', `echo '$GITHUB_SHA' \\$GITHUB_SHA "\\$GITHUB_SHA" it\\'s`],
    ['one in a here-document that expands nothing', "cat <<'END'\nit's $GITHUB_SHA\nEND\necho $((1 << 2))"],
    ['other names', 'echo "$CI $CI_MODE $GITHUB_ORG $GITHUB_TOKEN"'],
  ])('%s is left alone', (_, text) => expect(problemsOf(script(text))).toEqual([]));

  test('a variable that the file declares is left alone', () => {
    const text = `env: { GITHUB_SHA: a }\nsecrets: [CI_JOB_TOKEN]\n${job('env: { GITHUB_REF: b }')}`.replace(
      '{ run: make }',
      '{ run: echo $GITHUB_SHA $GITHUB_REF $CI_JOB_TOKEN $RUNNER_OS, env: { RUNNER_OS: c } }',
    );
    expect(problemsOf(text)).toEqual([]);
  });
});

describe('secrets that a step would not survive', () => {
  const other = 'choose another name';
  test.each([
    ['PATH', 'by which scripts find their commands'],
    ['HOME', "which steps get from their worker's user"],
    ['TMPDIR', 'which every step gets'],
    ['LD_PRELOAD', 'which controls how the system loads programs'],
    ['BASH_ENV', 'which bash itself uses'],
  ])('%s', (name, reason) =>
    only(top(`secrets: [▸${name}]`), `secrets[0]: a secret would replace ${name}, ${reason}; ${other}`),
  );

  test('a proxy, whose address holds a password, may be one', () => {
    expect(problemsOf(top('secrets: [HTTPS_PROXY, NPM_TOKEN, PATHS]'))).toEqual([]);
  });
});

describe('indentation', () => {
  const under = (lines: string[]) => `jobs:\n  build:\n${lines.join('\n')}\n`;
  test.each([
    [
      'a key too far left',
      under(['    steps:', '      - name: a', '       ▸run: x']),
      'not YAML: expected `- ` before an item, or the indentation of the lines before it',
    ],
    [
      'a key too far right',
      under(['    steps:', '      - name: ▸a', '          run: x']),
      "not YAML: its key has this value already; expected the next line at the key's indentation",
    ],
    [
      'a line of a script',
      under(['    steps:', '      - run: |', '          echo a', '        ▸echo b']),
      'not YAML: expected a key with a colon and a space, `key: value`, `- ` before an item, or the indentation of the lines before it; got text alone',
    ],
  ])('%s', (_, text, message) => only(text, message));

  test.each([
    [
      'steps beside their job',
      'jobs:\n  build:\n  steps:\n    ▸- run: make',
      'jobs.steps: expected a job: a map with `steps`; got a list; `steps` is at the level of the jobs: indent it deeper than the name of its job',
    ],
    [
      'a job without its keys',
      'jobs:\n  ▸build:\n  steps:\n    - run: make',
      'jobs.build: expected a job: a map with `steps`; got nothing; indent its keys deeper than `build`',
    ],
    [
      'no space behind a colon',
      under(['    steps:', '      - ▸run:npm ci']),
      'jobs.build.steps[0]: expected a step: a map with `run` or `approval`; got "run:npm ci"; write a space after the colon: `run: npm ci`',
    ],
    [
      'a bracket that stays open',
      under(['    needs: [a, b', '    ▸steps: [{ run: x }]']),
      'not YAML: expected ] before this, to close the open [',
    ],
    [
      'a character that YAML keeps for itself',
      withStep('run: ▸@foo'),
      'not YAML: Plain value cannot start with reserved character @; put the text between quotes, or write it below `|`',
    ],
  ])('%s', (_, text, message) => among(text, message));
});

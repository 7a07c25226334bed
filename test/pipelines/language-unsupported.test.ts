/** Files as users of GitHub Actions and GitLab CI write them. Every message says where, what came, what to write instead. */
import { describe, expect, test } from '@jest/globals';
import { among, JOBS, only, problemsOf, top, withStep } from './language-support.js';

const job = (text: string) =>
  `jobs:\n  build:\n    steps: [{ run: make }]\n    ${text.replaceAll('\n', '\n    ')}\n`;
const script = (text: string) =>
  `jobs:\n  build:\n    steps:\n      - run: |\n          ${text.replaceAll('\n', '\n          ')}\n`;

const STARTED =
  'a pipeline starts when its tool is called: remove it; the arguments of a call are declared under `inputs`';

const SCHEDULED =
  'cron runs `longhaul call NAME --detach`, or a Temporal Schedule starts it with what `longhaul sign` prints';

test.each([
  [
    'a schedule',
    top("▸on:\n  schedule:\n    - cron: '0 3 * * *'"),
    `on: unknown key; ${STARTED}; ${SCHEDULED}`,
  ],
  ['steps without a job', `▸steps:\n  - run: make\n${JOBS}`, 'steps: unknown key; it belongs to a job'],
  [
    'an image of a job',
    job('▸image: node'),
    "jobs.build.image: unknown key; steps run on the worker's machine: remove it, and call `docker run` in a script",
  ],
  ['stages', top('▸stages: [build]'), 'stages: unknown key; use `jobs`; `needs` of a job gives the order'],
  [
    'a script of a job',
    job('▸script: [npm test]'),
    'jobs.build.script: unknown key; write it as `run` of a step: jobs.build.steps[0].run',
  ],
  [
    'a job as a list of steps',
    'jobs:\n  build: ▸[{ run: make }]',
    'jobs.build: expected a job: a map with `steps`; got a list',
  ],
])('%s', (_, text, message) => only(text, message));

describe('variables of scripts', () => {
  const at = 'jobs.build.steps[0].run';
  const NOT_SET = 'is a variable of another system, not set here';
  const AS_INPUT = 'declare an input, and use its $INPUT_... variable';
  const NEXT_STEPS =
    'variables end with their step: set it under `env`, or write it to a file of the workspace and read that in later steps';
  test.each([
    ['echo "A=1" >> ▸$GITHUB_ENV', `$GITHUB_ENV ${NOT_SET}; ${NEXT_STEPS}`],
    [
      'make\necho "a=1" >> "▸$GITHUB_OUTPUT"',
      `$GITHUB_OUTPUT ${NOT_SET}; write key=value to "$LONGHAUL_OUTPUT", and list the key under \`outputs\` of the job`,
    ],
    ['x="$(git show "▸${GITHUB_SHA:0:8}")"', `$GITHUB_SHA ${NOT_SET}; ${AS_INPUT}`],
    ["cat <<END\nit's ▸$GITHUB_REF\nEND", `$GITHUB_REF ${NOT_SET}; ${AS_INPUT}`],
    ['echo ▸$CI_COMMIT_SHA', `$CI_COMMIT_SHA ${NOT_SET}; ${AS_INPUT}`],
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
      'jobs.steps: expected a job: a map with `steps`; got a list',
    ],
    [
      'a job without its keys',
      'jobs:\n  ▸build:\n  steps:\n    - run: make',
      'jobs.build: expected a job: a map with `steps`; got nothing',
    ],
    [
      'no space behind a colon',
      under(['    steps:', '      - ▸run:npm ci']),
      'jobs.build.steps[0]: expected a step: a map with `run` or `approval`; got "run:npm ci"',
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

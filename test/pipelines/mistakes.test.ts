/** Mistakes in pipelines that bash and YAML take without a word: `longhaul check` names each with its line and a cure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parsePipeline } from '../../pipelines/parse.js';
import { writeFiles } from '../support/write-files.js';
import { marked } from './language-support.js';

const project = mkdtempSync(join(tmpdir(), 'longhaul-mistakes-'));
writeFiles(project, { 'extract.py': '', 'pipelines/steps/load.sh': '', 'data.csv': '' });
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Problems and findings of a text, as `line:column: message`. */
function said(text: string): string[] {
  const { problems, findings } = parsePipeline(text, join(project, 'pipelines/demo.yml'));
  return [...problems, ...findings].map(({ line, column, message }) => `${line}:${column}: ${message}`);
}

const INPUTS = 'inputs: { properties: { date: { type: string }, days: { type: array } } }\n';
const lines = (text: string, indent: number) => text.replaceAll('\n', `\n${' '.repeat(indent)}`);
const script = (text: string, keys = '') =>
  `${INPUTS}jobs:\n  load:\n    ${keys || 'outputs: [total]'}\n    steps:\n      - run: |\n          ${lines(text, 10)}\n`;
const step = (text: string) => `${INPUTS}jobs:\n  load:\n    steps:\n      - ${lines(text, 8)}\n`;
const job = (text: string) => `${INPUTS}jobs:\n  load:\n    steps: [{ run: make }]\n    ${lines(text, 4)}\n`;
const top = (text: string) => `${text}\n${job('')}`;

test.each<[mistake: string, text: string, words: RegExp, cure: RegExp]>([
  ['a misspelt input', script('echo "▸$INPUT_DAET"'), /\$INPUT_DAET is not set/, /did you mean "INPUT_DATE"/],
  ['an input in lower case', script('echo "▸${INPUT_date}"'), /\$INPUT_date is not/, /"INPUT_DATE"/],
  ['an input that nobody declares', script('a ▸$INPUT_REGION'), /INPUT_REGION/, /under inputs\.properties/],
  [
    'an input that another program reads',
    script("node -e 'console.log(process.env.▸INPUT_DAY)'"),
    /INPUT_DAY is not set/,
    /"INPUT_DAYS"/,
  ],
  ['an answer of another step', script('a ▸$APPROVAL_REASON'), /APPROVAL_REASON/, /the step that asks/],
  ['an item without items', script('echo ▸$LONGHAUL_ITEM'), /LONGHAUL_ITEM is/, /`for-each`/],
  ['a misspelt variable', script('a >> "▸$LONGHAUL_OUTPUTS"'), /LONGHAUL_OUTPUTS/, /"LONGHAUL_OUTPUT"/],
  ['a secret by its setting', script('a ▸$LONGHAUL_SECRET_DB'), /LONGHAUL_SECRET_DB/, /list DB .* use \$DB/],
  ['a token of GitHub', script('gh ▸$GITHUB_TOKEN'), /GITHUB_TOKEN/, /list GITHUB_TOKEN under `secrets`/],
  ['an expression', script('echo "▸{{ inputs.date }}"'), /no expressions/, /\$INPUT_/],
  ["an expression of GitLab's", script('echo "▸$[[ inputs.date ]]"'), /no expressions/, /\$INPUT_/],
  [
    'an output that the job does not list',
    script('make\necho "▸rows=1" >> "$LONGHAUL_OUTPUT"'),
    /writes the output rows/,
    /add it to jobs\.load\.outputs/,
  ],
  [
    'a misspelt output',
    script('echo "▸totals=1" >> $LONGHAUL_OUTPUT'),
    /writes the output totals/,
    /did you mean "total"/,
  ],
  [
    'an output in a here-document',
    script('cat >> "$LONGHAUL_OUTPUT" <<END\n▸rows=1\nEND'),
    /writes the output rows/,
    /jobs\.load\.outputs/,
  ],
  [
    'an output in a group',
    script('{\n  echo "▸rows=1"\n  echo total=2\n} >> "$LONGHAUL_OUTPUT"'),
    /output rows/,
    /jobs\.load\.outputs/,
  ],
  [
    'an output of a needed job',
    `${script('echo total=1 >> "$LONGHAUL_OUTPUT"')}  report: { needs: load, steps: [{ run: 'echo "▸$total"' }] }\n`,
    /\$total is not set/,
    /\$LONGHAUL_ARTIFACTS\/load\//,
  ],
  [
    'a variable of an earlier step',
    'jobs: { a: { steps: [{ run: export V=1 }, { run: "echo ▸$V" }] } }',
    /\$V is not set/,
    /under `env`/,
  ],
  ['a mask of GitHub', script('echo "▸::add-mask::$X"'), /::add-mask::/, /only `secrets` are masked/],
  ['a group of lines', script('echo "▸::group::build"'), /::group::/, /remove it/],
  ['an annotation', script('echo "▸::error file=a.ts,line=1::bad"'), /::error/, /plain text/],
  ['an output of before', script('echo "▸::set-output name=a::1"'), /::set-output/, /LONGHAUL_OUTPUT/],
  ['a variable in env', step('run: make\nenv: { B: ▸$A/y }'), /\$A stays as written/, /B="\$A\/y"/],
  ['an input in env', top('env: { B: ▸"$INPUT_DATE/y" }'), /INPUT_DATE stays/, /in the script: B=/],
  ['a command in env', job('env: { B: ▸$(date) }'), /stays as written/, /in the script: B=/],
  ['a home in env', job('env: { B: ▸~/data }'), /stays as written/, /in the script: B=/],
  [
    'a variable in a question',
    step('approval: { message: ▸Load $INPUT_DATE? }'),
    /\$INPUT_DATE stays as written/,
    /shown as written/,
  ],
  [
    'a file of the project',
    script('python3 ▸extract.py'),
    /empty at first/,
    /"\$LONGHAUL_PROJECT\/extract\.py"/,
  ],
  [
    'a script beside the pipeline',
    script('make\n▸./steps/load.sh --all'),
    /empty at first/,
    /\$LONGHAUL_PROJECT\/pipelines\/steps\/load\.sh/,
  ],
  ['a folder outside', step('run: make\nworking-directory: ▸/srv/etl'), /within the workspace/, /use cd/],
  ['a resource group', job('▸resource_group: load'), /unknown key/, /`queue: \{ concurrency: 1 \}`/],
  [
    'a concurrency group',
    top('concurrency: ▸{ group: load }'),
    /whole number/,
    /`queue: \{ concurrency: 1 \}`/,
  ],
  ['a concurrency group of a job', job('▸concurrency: load'), /unknown key/, /`queue: /],
  ['a manual job', job('▸when: manual'), /unknown key/, /`approval` of a step/],
  ['a cancel as a condition', job('if: ▸cancelled()'), /expected success/, /write `always`/],
  ['a call as a condition', step('run: make\nif: ▸failure()'), /expected success/, /write `failure`/],
  ['another condition', step("run: make\nif: ▸github.ref == 'x'"), /expected success/, /in the script/],
  [
    'a schedule',
    top('▸on: { schedule: [{ cron: 0 3 * * * }] }'),
    /unknown key/,
    /longhaul call NAME --detach/,
  ],
  ['rules', job('▸rules: [{ if: $A }]'), /unknown key/, /test it in the script/],
  ['another interpreter', script('▸#!/usr/bin/env python3\nprint(1)'), /bash/, /python3 <<'END'/],
  ['a read', script('echo name?\n▸read name\necho $name'), /standard input is empty/, /`approval`/],
  ['a read of a line', script('▸read -p "Sure? " -r answer'), /standard input is empty/, /`approval`/],
  ['a background process', script('make\n▸./serve --port 1 &'), /end with their step/, /docker run --detach/],
])('%s', (_, marks, words, cure) => {
  const { text, place } = marked(marks);
  const [line, ...others] = said(text);
  expect(others).toEqual([]);
  expect(line).toMatch(words);
  expect(line).toMatch(cure);
  expect(line).toMatch(new RegExp(`^${place}: `));
});

test.each([
  ['tests and defaults', 'echo "${INPUT_REGION:-eu}"; [ -z "$LONGHAUL_ITEM" ] || exit 1'],
  ['what the script sets', 'GITHUB_TOKEN=$(cat token); echo "$GITHUB_TOKEN"; total=1; echo "$total"'],
  ['listed outputs', 'echo "total=1" >> "$LONGHAUL_OUTPUT"\n{ echo total=1; } >> $LONGHAUL_OUTPUT'],
  ['templates of others', "docker ps --format '{{ .Names }}'; echo '{{ value }}'"],
  ['text like a command', 'echo "a::b::c"; g++ std::error.cpp  # ::group::'],
  [
    'files with input',
    'while read -r a; do echo "$a"; done < list\nread -r first < list\ndate | { read -r a; echo "$a"; }',
  ],
  ['a process that the step uses', './serve &\nserver=$!\nmake\nkill "$server"\nmake 2>&1'],
  ['shells', '#!/usr/bin/env bash\nset -x'],
  ['fetched files', 'git clone --depth 1 url .\npython3 extract.py'],
  ['written files', "cat > extract.py <<'END'\nprint(1)\nEND\npython3 extract.py"],
  ['arguments', 'wc -l data.csv || python3 -m extract'],
  ['here-documents', "cat <<'END' > x\nread a\n./extract.py &\nEND"],
])('%s are left alone', (_, text) => expect(said(script(text))).toEqual([]));

test('inputs that the schema leaves open, and answers of the same step, are left alone', () => {
  expect(
    said('inputs: { additionalProperties: true }\njobs: { a: { steps: [{ run: echo $INPUT_A }] } }'),
  ).toEqual([]);
  const fields = '{ properties: { why: { type: string } } }';
  const asks = `approval: { message: Go?, fields: ${fields} }\nrun: echo $APPROVAL_WHY`;
  expect(said(step(asks))).toEqual([]);
});

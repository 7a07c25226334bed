/** Mistakes in scripts that bash and YAML take: `longhaul check` names each with its line and a cure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parsePipeline } from '../../pipelines/parse.js';
import { writeFiles } from '../support/write-files.js';
import { casesOf, job, only, script, top, withStep } from './language-support.js';

const project = mkdtempSync(join(tmpdir(), 'longhaul-mistakes-'));
writeFiles(project, { 'extract.py': '', 'pipelines/steps/load.sh': '', 'data.csv': '' });
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Problems and findings of a text, as `line:column: message`. */
function said(text: string): string[] {
  const { problems, findings } = parsePipeline(text, join(project, 'pipelines/demo.yml'));
  return [...problems, ...findings].map(({ line, column, message }) => `${line}:${column}: ${message}`);
}

/** With the inputs `date` and `days`, and an output `total` of the job. */
const withInputs = (text: string) =>
  `inputs: { properties: { date: { type: string }, days: { type: array } } }\n${text}`;
const inScript = (text: string) =>
  withInputs(script(text).replace('  build:\n', '  build:\n    outputs: [total]\n'));

const IN_A_SCRIPT = `
echo "▸$INPUT_DAET"
=> ...$INPUT_DAET is not set...did you mean "INPUT_DATE"...
echo "▸$\{INPUT_date}"
=> ...$INPUT_date is not..."INPUT_DATE"...
a ▸$INPUT_REGION
=> ...INPUT_REGION...under inputs.properties...
node -e 'console.log(process.env.▸INPUT_DAY)'
=> ...INPUT_DAY is not set..."INPUT_DAYS"...
a ▸$APPROVAL_REASON
=> ...APPROVAL_REASON...the step that asks...
echo ▸$LONGHAUL_ITEM
=> ...LONGHAUL_ITEM is...\`for-each\`...
a >> "▸$LONGHAUL_OUTPUTS"
=> ...LONGHAUL_OUTPUTS..."LONGHAUL_OUTPUT"...
a ▸$LONGHAUL_SECRET_DB
=> ...LONGHAUL_SECRET_DB...list DB ... use $DB...
gh ▸$GITHUB_TOKEN
=> ...list GITHUB_TOKEN under \`secrets\`...
echo "A=1" >> ▸$GITHUB_ENV
=> jobs.build.steps[0].run: $GITHUB_ENV is a variable of another system, not set here; variables end with their step: set it under \`env\`, or write it to a file of the workspace and read that in later steps
make
echo "a=1" >> "▸$GITHUB_OUTPUT"
=> jobs.build.steps[0].run: $GITHUB_OUTPUT is a variable of another system, not set here; write key=value to "$LONGHAUL_OUTPUT", and list the key under \`outputs\` of the job
x="$(git show "▸$\{GITHUB_SHA:0:8}")"
=> jobs.build.steps[0].run: $GITHUB_SHA is a variable of another system, not set here; declare an input, and use its $INPUT_... variable
cat <<END
it's ▸$GITHUB_REF
END
=> ...$GITHUB_REF is a variable of another system...
echo ▸$CI_COMMIT_SHA
=> ...$CI_COMMIT_SHA is a variable of another system...
echo "▸{{ inputs.date }}"
=> ...no expressions...$INPUT_...
echo "▸$[[ inputs.date ]]"
=> ...no expressions...$INPUT_...
make
echo "▸rows=1" >> "$LONGHAUL_OUTPUT"
=> ...writes the output rows...add it to jobs.build.outputs...
echo "▸totals=1" >> $LONGHAUL_OUTPUT
=> ...writes the output totals...did you mean "total"...
cat >> "$LONGHAUL_OUTPUT" <<END
▸rows=1
END
=> ...writes the output rows...jobs.build.outputs...
{
  echo "▸rows=1"
  echo total=2
} >> "$LONGHAUL_OUTPUT"
=> ...output rows...jobs.build.outputs...
echo "▸::add-mask::$X"
=> ...::add-mask::...only \`secrets\` are masked...
echo "▸::group::build"
=> ...::group::...remove it...
echo "▸::error file=a.ts,line=1::bad"
=> ...::error...plain text...
echo "▸::set-output name=a::1"
=> ...::set-output...LONGHAUL_OUTPUT...
python3 ▸extract.py
=> ...empty at first..."$LONGHAUL_PROJECT/extract.py"...
make
▸./steps/load.sh --all
=> ...empty at first...$LONGHAUL_PROJECT/pipelines/steps/load.sh...
▸#!/usr/bin/env python3
print(1)
=> ...bash...python3 <<'END'...
echo name?
▸read name
echo $name
=> ...standard input is empty...\`approval\`...
▸read -p "Sure? " -r answer
=> ...standard input is empty...\`approval\`...
make
▸./serve --port 1 &
=> ...end with their step...docker run --detach...
`;

const ELSEWHERE = `
${withInputs(`${script('echo total=1 >> "$LONGHAUL_OUTPUT"').replace('build:', 'build:\n    outputs: [total]')}  report: { needs: build, steps: [{ run: 'echo "▸$total"' }] }`)}
=> ...$total is not set...$LONGHAUL_ARTIFACTS/build/...
jobs: { a: { steps: [{ run: export V=1 }, { run: "echo ▸$V" }] } }
=> ...$V is not set...under \`env\`...
${withStep('run: make\nenv: { B: ▸$A/y }')}
=> ...$A stays as written...B="$A/y"...
${withInputs(top('env: { B: ▸"$INPUT_DATE/y" }'))}
=> ...INPUT_DATE stays...in the script: B=...
${job('env: { B: ▸$(date) }')}
=> ...stays as written...in the script: B=...
${job('env: { B: ▸~/data }')}
=> ...stays as written...in the script: B=...
${withInputs(withStep('approval: { message: ▸Load $INPUT_DATE? }'))}
=> ...$INPUT_DATE stays as written...shown as written...
`;

test.each(casesOf(IN_A_SCRIPT))('the script %j has one mistake: %s', (text, message) =>
  only(inScript(text), message, said),
);
test.each(casesOf(ELSEWHERE))('the file %j has one mistake: %s', (text, message) =>
  only(text, message, said),
);

describe('what is right is left alone', () => {
  test.each([
    ['tests and defaults', 'echo "${INPUT_REGION:-eu}"; [ -z "$LONGHAUL_ITEM" ] || exit 1'],
    ['what the script sets', 'GITHUB_TOKEN=$(cat token); echo "$GITHUB_TOKEN"; total=1; echo "$total"'],
    ['what it reads', 'read -r GITHUB_SHA < file; echo "$GITHUB_SHA"'],
    ['what it tests for', 'if [ -n "$GITHUB_ENV" ]; then echo a >> "$GITHUB_ENV"; fi'],
    ['which system it is', 'if [ "$GITHUB_ACTIONS" = true ] || [ "$GITLAB_CI" = true ]; then exit; fi'],
    ['comments', '# echo >> $GITHUB_ENV\nmake'],
    ['quoted names', `echo '$GITHUB_SHA' \\$GITHUB_SHA "\\$GITHUB_SHA" it\\'s`],
    ['other names', 'echo "$CI $CI_MODE $GITHUB_ORG"'],
    ['listed outputs', 'echo "total=1" >> "$LONGHAUL_OUTPUT"\n{ echo total=1; } >> $LONGHAUL_OUTPUT'],
    ['templates of others', "docker ps --format '{{ .Names }}'; echo '{{ value }}'"],
    ['text like a command', 'echo "a::b::c"; g++ std::error.cpp  # ::group::'],
    ['files with input', 'while read -r a; do echo "$a"; done < list\ndate | { read -r a; echo "$a"; }'],
    ['a process that the step uses', './serve &\nserver=$!\nmake\nkill "$server"\nmake 2>&1'],
    ['shells', '#!/usr/bin/env bash\nset -x'],
    ['fetched files', 'git clone --depth 1 url .\npython3 extract.py'],
    ['written files', "cat > extract.py <<'END'\nprint(1)\nEND\npython3 extract.py"],
    ['arguments', 'wc -l data.csv || python3 -m extract'],
    ['here-documents', "cat <<'END' > x\nread a\n./extract.py &\nit's $GITHUB_SHA\nEND\necho $((1 << 2))"],
  ])('%s', (_, text) => expect(said(inScript(text))).toEqual([]));

  test.each([
    [
      'variables that the file declares',
      'env: { GITHUB_SHA: a }\nsecrets: [CI_JOB_TOKEN]\njobs: { a: { env: { GITHUB_REF: b }, steps: [{ run: echo $GITHUB_SHA $GITHUB_REF $CI_JOB_TOKEN $RUNNER_OS, env: { RUNNER_OS: c } }] } }',
    ],
    ['secrets that a step survives', top('secrets: [HTTPS_PROXY, NPM_TOKEN, PATHS]')],
    [
      'inputs that the schema leaves open',
      'inputs: { additionalProperties: true }\njobs: { a: { steps: [{ run: echo $INPUT_A }] } }',
    ],
    [
      'answers of the same step',
      withStep(
        'approval: { message: Go?, fields: { properties: { why: { type: string } } } }\nrun: echo $APPROVAL_WHY',
      ),
    ],
  ])('%s', (_, text) => expect(said(text)).toEqual([]));
});

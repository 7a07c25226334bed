/** Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, JOBS, only, problemsOf, withStep } from './language-support.js';

const top = (text: string) => `${text}\n${JOBS}`;
const inputs = (text: string) => top(`inputs:\n  ${text.replaceAll('\n', '\n  ')}`);
const job = (text: string) => `jobs:\n  build:\n    steps: [{ run: x }]\n    ${text}\n`;

describe('not YAML', () => {
  test.each([
    ['an empty file', '▸', 'expected a pipeline: a map with `jobs`; got an empty file'],
    ['only comments', '▸# nothing', 'expected a pipeline: a map with `jobs`; got an empty file'],
    ['a list', '▸- a', 'expected a pipeline: a map with `jobs`; got a list'],
    ['a text', '▸hello', 'expected a pipeline: a map with `jobs`; got "hello"'],
    ['a tab', 'jobs:\n▸\tbuild: 1', "not YAML: tabs can't be used for indentation; use spaces"],
    ['a colon in a text', 'description: ▸Builds: fast', 'not YAML: text that contains ": " needs quotes'],
    ['an open quote', 'name: "abc▸', 'not YAML: Missing closing "quote'],
    ['binary data', 'name: a\ndescription: a▸\u0000b', 'expected text; got the control character U+0000'],
    ['an unknown tag', top('name: ▸!secret abc'), 'Unresolved tag: !secret; remove it'],
    ['YAML 1.1', `▸%YAML 1.1\n---\n${JOBS}`, 'expected YAML 1.2; got 1.1'],
    ['an unknown alias', top('description: ▸*nothing'), '*nothing: there is no &nothing before it'],
  ])('%s', (_, text, message) => among(text, message));

  test.each([
    ['several documents', `${JOBS}\n▸---\n${JOBS}`, 'expected one document; `---` begins another'],
    ['a key twice', top('env:\n  A: 1\n  ▸A: 2'), 'env.A: duplicate key; keep one of them'],
    ['a merge key', top('env: { ▸<<: { A: 1 } }'), 'env.<<: YAML 1.2 has no merge keys; repeat the keys'],
    ['a map as key', top('env:\n  ▸{ a: b }: c'), 'env: expected a key that is text; got a map'],
    ['a reserved name', top('env: { ▸__proto__: 1 }'), 'env.__proto__: the name is reserved; choose another'],
    ['another one', top('env: { ▸constructor: 1 }'), 'env.constructor: the name is reserved; choose another'],
    [
      'a number that JSON cannot represent',
      inputs('properties: { a: { enum: [▸.inf] } }'),
      'inputs.properties.a.enum[0]: expected a value that JSON can hold; got a number that JSON cannot represent',
    ],
    [
      'a NUL',
      top('env: { A: ▸"a\\0b" }'),
      'env.A: expected a value that JSON can hold; got a NUL, which no variable or script can contain',
    ],
  ])('%s', (_, text, message) => only(text, message));
});

describe('unknown keys', () => {
  const action = 'there are no actions: write commands under `run`';
  test.each([
    [
      top('▸on: push'),
      'on: unknown key; a pipeline starts when its tool is called: remove it; no repository is watched: have its own CI or a webhook call the tool',
    ],
    [
      top('▸permissions: read-all'),
      'permissions: unknown key; steps have the rights of the worker: remove it',
    ],
    [
      top('▸defaults: { run: { shell: sh } }'),
      'defaults: unknown key; the shell is `bash -eo pipefail`; `working-directory` is set on each step',
    ],
    [top('▸timeoutMinutes: 3'), 'timeoutMinutes: unknown key; did you mean "timeout-minutes"?'],
    [top('▸descripton: x'), 'descripton: unknown key; did you mean "description"?'],
    [top('▸steps: []'), 'steps: unknown key; it belongs to a job: put it under `jobs`, as jobs.build.steps'],
    [
      top('▸x-anchors: 1'),
      'x-anchors: unknown key; known are name, description, inputs, outputs, env, secrets, concurrency, timeout-minutes, estimate-minutes, jobs',
    ],
    [
      job('▸runs-on: ubuntu'),
      "jobs.build.runs-on: unknown key; steps run on the worker's machine: remove it",
    ],
    [
      job('▸strategy: { matrix: {} }'),
      'jobs.build.strategy: unknown key; use `for-each` with an input that is a list; `concurrency` of the pipeline bounds it',
    ],
    [job('▸name: Build'), "jobs.build.name: unknown key; a job's key is its name: rename the key"],
    [job('▸uses: ./other.yml'), `jobs.build.uses: unknown key; ${action} of the job's steps`],
    [
      job('▸container: node'),
      "jobs.build.container: unknown key; steps run on the worker's machine: remove it, and call `docker run` or `podman run` in a script, or run the worker itself in that image",
    ],
    [
      job('▸services: {}'),
      'jobs.build.services: unknown key; start it in a script, as with `docker run --detach`, and stop it in a step with `if: always`: processes that a step leaves in the background end with it',
    ],
    [
      job('▸timeout-minutes: 3'),
      'jobs.build.timeout-minutes: unknown key; steps and the pipeline have `timeout-minutes`: set it there',
    ],
    [job('▸need: []'), 'jobs.build.need: unknown key; did you mean "needs"?'],
    [job('▸forEach: a'), 'jobs.build.forEach: unknown key; did you mean "for-each"?'],
    [
      withStep('▸uses: actions/checkout@v4'),
      'jobs.build.steps[0].uses: unknown key; there are no actions; the workspace is empty at first: `run: git clone --depth 1 URL .`',
    ],
    [
      withStep('run: x\n▸with: {}'),
      'jobs.build.steps[0].with: unknown key; a script reads inputs from INPUT_* variables, and others from `env`',
    ],
    [
      withStep('run: x\n▸id: one'),
      'jobs.build.steps[0].id: unknown key; remove it; use `name` for people, and files of the workspace for other steps',
    ],
    [
      withStep('run: x\n▸shell: python'),
      'jobs.build.steps[0].shell: unknown key; the shell is `bash -eo pipefail`: remove it, and call another in the script',
    ],
    [withStep('run: x\n▸timeout: 3'), 'jobs.build.steps[0].timeout: unknown key; use `timeout-minutes`'],
    [
      withStep('run: x\n▸timeout_minutes: 3'),
      'jobs.build.steps[0].timeout_minutes: unknown key; did you mean "timeout-minutes"?',
    ],
    [withStep('run: x\n▸jobs: 3'), 'jobs.build.steps[0].jobs: unknown key; it belongs to a pipeline'],
    [
      withStep('run: x\nretry: { attempts: 2, ▸delay: 3 }'),
      'jobs.build.steps[0].retry.delay: unknown key; use `backoff`, in seconds',
    ],
    [
      withStep('approval: { message: x, ▸inputs: {} }'),
      'jobs.build.steps[0].approval.inputs: unknown key; use `fields`',
    ],
    [
      inputs('▸version: { type: string }'),
      'inputs.version: unknown key; put it under `properties`: inputs.properties.version',
    ],
    [inputs('properties: { a: { ▸options: [b] } }'), 'inputs.properties.a.options: unknown key; use `enum`'],
    [
      inputs('properties: { a: { ▸tipe: string } }'),
      'inputs.properties.a.tipe: unknown key; did you mean "type"?',
    ],
    [
      inputs('properties: { a: { ▸$ref: "#" } }'),
      'inputs.properties.a.$ref: unknown key; write the schema out, or use an anchor and alias of YAML',
    ],
    [
      inputs('properties: { a: { description: one, ▸two } }'),
      'inputs.properties.a.two: unknown key; text that contains a comma needs quotes within braces',
    ],
  ])('%s', (text, message) => only(text, message));
});

describe('expressions', () => {
  const no = 'there are no expressions';
  test.each([
    ['inputs.dry-run', `${no}; use $INPUT_DRY_RUN in the script`],
    ['github.event.inputs.a', `${no}; use $INPUT_A in the script`],
    ['secrets.TOKEN', `${no}; list TOKEN under \`secrets\` and use $TOKEN in the script`],
    ['env.HOME', `${no}; use $HOME in the script`],
    ['vars.REGION', `${no}; set REGION under \`env\` and use $REGION in the script`],
    [
      'needs.a.outputs.b',
      `${no}; have a write b to a file and list it under its \`artifacts\`; here it is under $LONGHAUL_ARTIFACTS/a/`,
    ],
    ['jobs.a.outputs.b', `${no}; write \`a.b\` without the braces`],
    [
      'steps.a.outputs.b',
      `${no}; steps of a job share its workspace: write a file in one and read it in the other`,
    ],
    ['matrix.node', `${no}; use \`for-each\` of the job, and $LONGHAUL_ITEM in the script`],
    [
      'github.sha',
      `${no}; no repository or event starts a pipeline: declare an input, and use its $INPUT_... variable`,
    ],
    ['failure()', `${no}; write \`if: failure\``],
    ['a && b', `${no}; compute it in the script`],
  ])('${{ %s }}', (content, message) => {
    only(
      withStep(`run: echo ▸\${{ ${content} }}`),
      `jobs.build.steps[0].run: \${{ ${content} }}: ${message}`,
    );
  });

  test.each([
    [
      'in a block of text',
      withStep('run: |\n  one\n  two ▸${{ env.A }}\n'),
      'jobs.build.steps[0].run: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'where something else is expected',
      job('needs: ▸${{ env.A }}'),
      'jobs.build.needs: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'in a key',
      top('env: { "▸${{ env.A }}": 1 }'),
      'env.${{ env.A }}: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'in what is not even YAML',
      top('env: { A: ▸${{ env.B }} }'),
      '${{ env.B }}: there are no expressions; use $B in the script',
    ],
  ])('%s', (_, text, message) => among(text, message));

  test('each of several is reported', () => {
    expect(problemsOf(withStep('run: ${{ env.A }} ${{ env.B }}'))).toHaveLength(2);
  });
});

describe('values of another kind', () => {
  const step = 'jobs.build.steps[0]';
  const variable = 'expected the name of a variable: a letter or _, then letters, digits or _';
  const name = 'a letter or _, then letters, digits, _ or -, at most 64 characters';
  test.each([
    [
      top('name: ▸CI build'),
      'name: expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning; got "CI build"; write CI_build',
    ],
    [
      top('name: ▸operation_list'),
      'name: expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning; got "operation_list"',
    ],
    [top('name: ▸3'), 'name: expected the name of a tool; got 3'],
    [top('description: ▸[a]'), 'description: expected text; got a list'.replace('text', 'a sentence or two')],
    [top('▸inputs:'), 'inputs: expected a schema, such as `{ type: string }`; got nothing'],
    [inputs('type: ▸string'), 'inputs.type: expected object; got "string"'],
    [
      inputs('title: ▸{ type: string }'),
      'inputs.title: expected text; got a map; put it under `properties`: inputs.properties.title',
    ],
    [
      inputs('properties: { a: { type: ▸choice } }'),
      'inputs.properties.a.type: expected string, number, integer, boolean, array, object or null; got "choice"; use `enum` with the list of choices',
    ],
    [
      inputs('properties: { a: { required: ▸true } }'),
      'inputs.properties.a.required: expected a list of names; got true; list the required names in `required`, next to `properties`',
    ],
    [
      inputs('properties: { a: { type: [string, ▸bool] } }'),
      'inputs.properties.a.type[1]: expected string, number, integer, boolean, array, object or null; got "bool"',
    ],
    [
      inputs('properties: { a: { items: ▸text } }'),
      'inputs.properties.a.items: expected a schema, such as `{ type: string }`; got "text"',
    ],
    [
      inputs('properties: { a: { minLength: ▸-1 } }'),
      'inputs.properties.a.minLength: expected a whole number from 0; got -1',
    ],
    [
      inputs('properties: { a: { pattern: ▸"(" } }'),
      'inputs.properties.a.pattern: expected a regular expression; Invalid regular expression: /(/u: Unterminated group',
    ],
    [
      inputs('properties: { a: { pattern: ▸^a(?=b) } }'),
      'inputs.properties.a.pattern: a look-ahead ((?=, character 3) is not supported; expected syntax of RE2, which is matched in linear time',
    ],
    [
      inputs('patternProperties: { ▸(a)\\1: { type: string } }'),
      'inputs.patternProperties.(a)\\1: a back-reference (\\\\1, character 4) is not supported; expected syntax of RE2, which is matched in linear time',
    ],
    [
      inputs('properties: { a: { type: integer, default: ▸x } }'),
      'inputs.properties.a.default: expected integer; got "x"',
    ],
    [
      inputs('properties: { ab: {} }\nrequired: [▸abc]'),
      'inputs.required[0]: expected a name in `properties`; got "abc"; did you mean "ab"?',
    ],
    [inputs('properties: { ▸"a b": {} }'), `inputs.properties.a b: expected a name: ${name}; got "a b"`],
    [
      inputs('properties: { ▸wait: {} }'),
      "inputs.properties.wait: the name is reserved for every tool's calls; choose another",
    ],
    [
      inputs('properties: { a-b: {}, ▸A_B: {} }'),
      'inputs.properties.A_B: it would be the variable INPUT_A_B, like "a-b"; rename one of them',
    ],
    [top('env: ▸[A]'), 'env: expected a map of names and values; got a list'],
    [top('env: { ▸A-B: 1 }'), `env.A-B: ${variable}; got "A-B"`],
    [
      top('env: { ▸LONGHAUL_X: 1 }'),
      "env.LONGHAUL_X: names that begin with LONGHAUL_ are Longhaul's own; choose another",
    ],
    [
      top('env: { ▸INPUT_X: 1 }'),
      "env.INPUT_X: names that begin with INPUT_ are Longhaul's own; choose another",
    ],
    [top('env: { A: ▸[1] }'), 'env.A: expected text, a number, true or false; got a list'],
    [top('env: { ▸A: }'), 'env.A: expected text, a number, true or false; got nothing'],
    [
      top('secrets: ▸{ A: b }'),
      'secrets: expected a list of names; got a map; list only the names: secrets: [A]',
    ],
    [top('secrets: [▸a-b]'), `secrets[0]: ${variable}; got "a-b"`],
    [top('secrets: [A, ▸A]'), 'secrets[1]: "A" is already listed; list it once'],
    [
      top('secrets: [▸APPROVAL_X]'),
      "secrets[0]: names that begin with APPROVAL_ are Longhaul's own; choose another",
    ],
    [
      `secrets: [A]\n${withStep('run: x\nenv: { ▸A: 1 }')}`,
      `${step}.env.A: "A" is also a secret; rename one of them`,
    ],
    [top('concurrency: ▸0'), 'concurrency: expected a whole number from 1 to 200; got 0'],
    [
      top('concurrency: ▸{ group: a }'),
      'concurrency: expected a whole number from 1 to 200; got a map; give the number of jobs; operations always run side by side',
    ],
    [top('timeout-minutes: ▸0'), 'timeout-minutes: expected minutes above 0; got 0'],
    [top('timeout-minutes: ▸1e9'), 'timeout-minutes: expected at most 525600 minutes; got 1000000000'],
    ['▸description: x', 'jobs: missing; expected a map of names and jobs'],
    ['jobs: ▸{}', 'jobs: expected 1 to 1000 jobs; got 0'],
    ['jobs: { ▸1x: { steps: [{ run: x }] } }', `jobs.1x: expected the name of a job: ${name}; got "1x"`],
    ['jobs: { ▸a: {} }', 'jobs.a.steps: missing; expected a list of steps'],
    ['jobs: { a: { steps: ▸[] } }', 'jobs.a.steps: expected at least one step; got an empty list'],
    [
      'jobs: { a: { steps: ▸{ run: x } } }',
      'jobs.a.steps: expected a list of steps; got a map; begin each step with a dash: `- run: ...`',
    ],
    [
      'jobs: { a: { steps: [▸make] } }',
      'jobs.a.steps[0]: expected a step: a map with `run` or `approval`; got "make"; write `- run: make`',
    ],
    [withStep('▸name: nothing'), `${step}.run: missing; expected a script, or \`approval\``],
    [withStep('run: ▸3'), `${step}.run: expected a script; got 3`],
    [withStep('run: ▸""'), `${step}.run: expected a script; got ""`],
    [withStep('run: x\nname: ▸"a\\nb"'), `${step}.name: expected a name of one line; got "a\\nb"`],
    [
      withStep('run: x\nif: ▸failure()'),
      `${step}.if: expected success, failure or always; got "failure()"; write failure`,
    ],
    [
      withStep('run: x\nif: ▸a == b'),
      `${step}.if: expected success, failure or always; got "a == b"; there are no expressions: let the script decide`,
    ],
    [
      withStep('run: x\nretry: ▸3'),
      `${step}.retry: expected a map such as \`{ attempts: 3, backoff: 10 }\`; got 3`,
    ],
    [
      withStep('run: x\nretry: { attempts: ▸101 }'),
      `${step}.retry.attempts: expected a whole number from 1 to 100; got 101`,
    ],
    [
      withStep('run: x\n▸retry: { backoff: 1 }'),
      `${step}.retry.attempts: missing; expected a whole number from 1 to 100`,
    ],
    [withStep('run: x\nidempotent: ▸yes'), `${step}.idempotent: expected true or false; got "yes"`],
    [
      withStep('approval: ▸true'),
      `${step}.approval: expected a map such as \`{ message: Deploy? }\`; got true`,
    ],
    [
      withStep('▸approval: {}').replace('{}', '{ fields: { properties: {} } }'),
      `${step}.approval.message: missing; expected a question`,
    ],
    [
      withStep('approval: { message: x, ▸fields: { type: object } }'),
      `${step}.approval.fields.properties: missing; expected the names of the fields and their schemas`,
    ],
    [
      withStep('approval: { message: x, fields: { properties: { a: ▸{ type: object } } } }'),
      `${step}.approval.fields.properties.a: expected \`type: string\`, number, integer or boolean, or \`enum\`: clients show fields as a form`,
    ],
    [
      withStep('approval: { message: x }\n▸retry: { attempts: 2 }'),
      `${step}.retry: has no effect on a step without \`run\`; remove it`,
    ],
    [
      withStep('run: x\nworking-directory: ▸/tmp'),
      `${step}.working-directory: expected a folder within the workspace; got "/tmp"`,
    ],
    [
      withStep('run: x\nworking-directory: ▸a/../../b'),
      `${step}.working-directory: expected a folder within the workspace; got "a/../../b"`,
    ],
    [
      withStep('run: x\nworking-directory: ▸$HOME'),
      `${step}.working-directory: variables aren't expanded here; got "$HOME"; use cd in the script`,
    ],
    [job('artifacts: ▸dist'), 'jobs.build.artifacts: expected a list of paths and patterns; got "dist"'],
    [
      job('artifacts: [▸/etc/passwd]'),
      'jobs.build.artifacts[0]: expected a path or pattern within the workspace; got "/etc/passwd"',
    ],
    [
      job('artifacts: [a, ▸a/../../b]'),
      'jobs.build.artifacts[1]: expected a path or pattern within the workspace; got "a/../../b"',
    ],
    [
      job('artifacts: [▸"{..,a}/b"]'),
      'jobs.build.artifacts[0]: expected a path or pattern within the workspace; got "{..,a}/b"',
    ],
    [
      job('outputs: ▸{ url: x }'),
      'jobs.build.outputs: expected a list of the keys that steps write to $LONGHAUL_OUTPUT; got a map; list only the keys: outputs: [url]; a script writes key=value to "$LONGHAUL_OUTPUT"',
    ],
    [job('outputs: [▸a.b]'), `jobs.build.outputs[0]: expected a key: ${name}; got "a.b"`],
    [job('outputs: [a, ▸a]'), 'jobs.build.outputs[1]: "a" is already listed; list it once'],
    [
      top('outputs: { a: ▸build }'),
      'outputs.a: expected `job.key`: a job, and a key of its outputs; got "build"',
    ],
    [top('outputs: { ▸a: { type: string } }'), 'outputs.a.value: missing; expected `job.key`'],
    [
      top('outputs: { ▸a.b: build.a }').replace('build: {', 'build: { outputs: [a],'),
      `outputs.a.b: expected a name: ${name}; got "a.b"`,
    ],
  ])('%s', (text, message) => only(text, message));
});

describe('keys that do not fit each other', () => {
  const two = (first: string, second: string) =>
    `jobs:\n  one: { ${first} steps: [{ run: x }] }\n  two: { ${second} steps: [{ run: x }] }\n`;
  test.each([
    [
      'a need that is not there',
      two('', 'needs: [▸ones],'),
      'jobs.two.needs[0]: there is no job "ones"; did you mean "one"?',
    ],
    [
      'a need twice',
      two('', 'needs: [one, ▸one],'),
      'jobs.two.needs[1]: "one" is already listed; list it once',
    ],
    [
      'a job that needs itself',
      two('needs: ▸one,', ''),
      'jobs.one.needs: jobs need each other: one -> one; remove one of the needs',
    ],
    [
      'a cycle',
      two('needs: two,', 'needs: [▸one],'),
      'jobs.two.needs[0]: jobs need each other: two -> one -> two; remove one of the needs',
    ],
    [
      'failure of nothing',
      two('if: ▸failure,', ''),
      'jobs.one.if: the job can never run: `if: failure` is about the jobs in `needs`, and it has none',
    ],
    [
      'failure of no steps',
      withStep('run: x\nif: ▸failure'),
      'jobs.build.steps[0].if: the step can never run: `if: failure` is about earlier steps of its job, and it is the first',
    ],
    [
      'success and failure of the same job',
      `${two('', 'needs: one, if: failure,')}  three: { needs: ▸[one, two], steps: [{ run: x }] }\n  four: { needs: three, steps: [{ run: x }] }`,
      'jobs.three.needs: the job can never run: it waits for "one" to succeed and, through another job, to fail; use `if: always`',
    ],
    [
      'for-each over nothing',
      job('for-each: ▸items'),
      'jobs.build.for-each: there is no input "items"; add it to inputs.properties, with `type: array`',
    ],
    [
      'for-each over a text',
      `inputs: { properties: { items: { type: string } } }\n${job('for-each: ▸items')}`,
      'jobs.build.for-each: expected an input that is a list; "items" lacks `type: array`',
    ],
    [
      'an output of no job',
      top('outputs: { a: ▸bild.a }'),
      'outputs.a: there is no job "bild"; did you mean "build"?',
    ],
    [
      'an output that the job has not',
      top('outputs: { a: { value: ▸build.a } }'),
      'outputs.a.value: the job "build" has no output "a"; add it to jobs.build.outputs',
    ],
    [
      'two steps of one name',
      'jobs: { a: { steps: [{ name: x, run: x }, { name: ▸x, run: x }] } }',
      'jobs.a.steps[1].name: "x" is also the name of step 1; give each its own name',
    ],
  ])('%s', (_, text, message) => only(text, message));
});

test('all problems of a file are reported at once, in its order', () => {
  const text =
    'on: push\njobs:\n  a:\n    needs: [b]\n    steps: [{ run: "${{ env.A }}" }]\n  b: { needs: a, steps: [] }\n';
  expect(problemsOf(text).map((problem) => problem.split(':').slice(0, 3).join(':'))).toEqual([
    '1:1: on',
    '5:21: jobs.a.steps[0].run',
    '6:15: jobs.b.needs',
    '6:25: jobs.b.steps',
  ]);
});

test("a file whose name can't be a tool's needs a name", () => {
  expect(problemsOf(JOBS, 'pipelines/2nd try.yml')).toEqual([
    "1:1: name: missing; the file's name can't be a tool's: expected a letter, then letters, digits or _",
  ]);
  expect(problemsOf(`name: second\n${JOBS}`, 'pipelines/2nd try.yml')).toEqual([]);
});

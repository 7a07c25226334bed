/** Problems of keys and values. Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, casesOf, inputs, job, only, problemsOf, top, withStep } from './language-support.js';

const AT_THE_TOP = `
▸on: push
=> on: unknown key; a pipeline starts when its tool is called: remove it; the arguments of a call are declared under \`inputs\`
▸on:
  schedule:
    - cron: '0 3 * * *'
=> on: unknown key; ...; cron runs \`longhaul call NAME --detach\`, or a Temporal Schedule starts it with what \`longhaul sign\` prints
▸descripton: x
=> descripton: unknown key; did you mean "description"?
▸x-anchors: 1
=> x-anchors: unknown key; known are name, description, inputs, outputs, env, secrets, concurrency, priority, queue, timeout-minutes, estimate-minutes, jobs
▸steps: [{ run: make }]
=> steps: unknown key; it belongs to a job
▸stages: [build]
=> stages: unknown key; use \`jobs\`; \`needs\` of a job gives the order
name: ▸CI build
=> name: expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning; got "CI build"
▸inputs:
=> inputs: expected a schema, such as \`{ type: string }\`; got nothing
outputs: { a: ▸build }
=> outputs.a: expected \`job.key\`: a job, and a key of its outputs; got "build"
outputs: { a: { value: ▸build.a } }
=> outputs.a.value: the job "build" has no output "a"; add it to jobs.build.outputs
env: { ▸A-B: 1 }
=> env.A-B: expected the name of a variable: a letter or _, then letters, digits or _; got "A-B"
env: { ▸LONGHAUL_X: 1 }
=> env.LONGHAUL_X: names that begin with LONGHAUL_ are Longhaul's own; choose another
env: { A: ▸[1] }
=> env.A: expected text, a number, true or false; got a list
secrets: ▸{ A: b }
=> secrets: expected a list of names; got a map
secrets: [▸APPROVAL_X]
=> secrets[0]: names that begin with APPROVAL_ are Longhaul's own; choose another
secrets: [▸PATH]
=> secrets[0]: a secret would replace PATH, by which scripts find their commands; choose another name
secrets: [▸HOME]
=> secrets[0]: a secret would replace HOME, which steps get from their worker's user; choose another name
secrets: [▸TMPDIR]
=> secrets[0]: a secret would replace TMPDIR, which every step gets; choose another name
secrets: [▸LD_PRELOAD]
=> secrets[0]: a secret would replace LD_PRELOAD, which controls how the system loads programs; choose another name
secrets: [▸BASH_ENV]
=> secrets[0]: a secret would replace BASH_ENV, which bash itself uses; choose another name
concurrency: ▸{ group: a }
=> concurrency: expected a whole number from 1 to 200; got a map; use \`queue: { concurrency: 1 }\` at the top of the file: runs of the pipeline take turns
timeout-minutes: ▸0
=> timeout-minutes: expected minutes above 0; got 0
`;

const OF_INPUTS = `
▸version: { type: string }
=> inputs.version: unknown key; put it under \`properties\`: inputs.properties.version
type: ▸string
=> inputs.type: expected object; got "string"
title: ▸{ type: string }
=> inputs.title: expected text; got a map; put it under \`properties\`: inputs.properties.title
properties: { a: { ▸$ref: "#" } }
=> inputs.properties.a.$ref: unknown key; common ones are type, description, default, enum, properties, items; there are no references
properties: { a: { description: one, ▸two } }
=> inputs.properties.a.two: unknown key; text that contains a comma needs quotes within braces
properties: { a: { type: ▸choice } }
=> inputs.properties.a.type: expected string, number, integer, boolean, array, object or null; got "choice"
properties: { a: { required: ▸true } }
=> inputs.properties.a.required: expected a list of names; got true; list the required names in \`required\`, next to \`properties\`
properties: { a: { pattern: ▸"(" } }
=> inputs.properties.a.pattern: expected a regular expression; Invalid regular expression: /(/u: Unterminated group
properties: { a: { pattern: ▸^a(?=b) } }
=> inputs.properties.a.pattern: invalid or unsupported Perl syntax: \`(?=\`; expected syntax of RE2, which is matched in linear time
properties: { a: { type: integer, default: ▸x } }
=> inputs.properties.a.default: expected integer; got "x"
properties: { ab: {} }
required: [▸abc]
=> inputs.required[0]: expected a name in \`properties\`; got "abc"; did you mean "ab"?
properties: { ▸"a b": {} }
=> inputs.properties.a b: expected a name: a letter or _, then letters, digits, _ or -, at most 64 characters; got "a b"
properties: { ▸wait: {} }
=> inputs.properties.wait: the name is reserved for every tool's calls; choose another
properties: { a-b: {}, ▸A_B: {} }
=> inputs.properties.A_B: it would be the variable INPUT_A_B, like "a-b"; rename one of them
`;

const OF_A_JOB = `
▸forEach: a
=> jobs.build.forEach: unknown key; did you mean "for-each"?
▸image: node
=> jobs.build.image: unknown key; steps run on the worker's machine: remove it, and call \`docker run\` in a script
▸script: [npm test]
=> jobs.build.script: unknown key; write it as \`run\` of a step: jobs.build.steps[0].run
▸resource_group: load
=> jobs.build.resource_group: unknown key; ...\`queue: { concurrency: 1 }\`...
▸concurrency: load
=> jobs.build.concurrency: unknown key; ...\`queue: ...
▸when: manual
=> jobs.build.when: unknown key; ...\`approval\` of a step...
▸rules: [{ if: $A }]
=> jobs.build.rules: unknown key; ...test it in the script...
if: ▸cancelled()
=> jobs.build.if: expected success...write \`always\`...
for-each: ▸items
=> jobs.build.for-each: there is no input "items"; add it to inputs.properties, with \`type: array\`
artifacts: [a, ▸a/../../b]
=> jobs.build.artifacts[1]: expected a path or pattern within the workspace; got "a/../../b"
artifacts: [▸"{..,a}/b"]
=> jobs.build.artifacts[0]: expected a path or pattern within the workspace; got "{..,a}/b"
outputs: ▸{ url: x }
=> jobs.build.outputs: expected a list of the keys that steps write to $LONGHAUL_OUTPUT; got a map
`;

const OF_A_STEP = `
▸uses: actions/checkout@v4
=> jobs.build.steps[0].uses: unknown key; there are no actions: write commands under \`run\` of a job's steps
run: x
▸shell: python
=> jobs.build.steps[0].shell: unknown key; the shell is \`bash -eo pipefail\`: remove it, and call another in the script
run: x
▸jobs: 3
=> jobs.build.steps[0].jobs: unknown key; it belongs to a pipeline
run: x
retry: { attempts: 2, ▸delay: 3 }
=> jobs.build.steps[0].retry.delay: unknown key; known are attempts, backoff
approval: { message: x, ▸inputs: {} }
=> jobs.build.steps[0].approval.inputs: unknown key; known are message, fields, approvers, four-eyes
▸name: nothing
=> jobs.build.steps[0].run: missing; expected a script, or \`approval\`
run: x
name: ▸"a\\nb"
=> jobs.build.steps[0].name: expected a name of one line; got "a\\nb"
run: x
if: ▸failure()
=> jobs.build.steps[0].if: expected success, failure or always; got "failure()"; write \`failure\`
run: x
if: ▸a == b
=> jobs.build.steps[0].if: expected success, failure or always; got "a == b"; there are no expressions: test it in the script
run: x
if: ▸failure
=> jobs.build.steps[0].if: the step can never run: \`if: failure\` is about earlier steps of its job, and it is the first
run: x
▸retry: { backoff: 1 }
=> jobs.build.steps[0].retry.attempts: missing; expected a whole number from 1 to 100
approval: ▸true
=> jobs.build.steps[0].approval: expected a map such as \`{ message: Deploy? }\`; got true
▸approval: { fields: { properties: {} } }
=> jobs.build.steps[0].approval.message: missing; expected a question
approval: { message: x, fields: { properties: { a: ▸{ type: object } } } }
=> jobs.build.steps[0].approval.fields.properties.a: expected \`type: string\`, number, integer or boolean, or \`enum\`: clients show fields as a form
approval: { message: x }
▸retry: { attempts: 2 }
=> jobs.build.steps[0].retry: has no effect on a step without \`run\`; remove it
run: x
working-directory: ▸a/../../b
=> jobs.build.steps[0].working-directory: expected a folder within the workspace; got "a/../../b"; use cd in the script
run: x
working-directory: ▸$HOME
=> jobs.build.steps[0].working-directory: variables aren't expanded here; got "$HOME"; use cd in the script
`;

const OF_A_FILE = `
▸description: x
=> jobs: missing; expected a map of names and jobs
jobs: { build: ▸[{ run: make }] }
=> jobs.build: expected a job: a map with \`steps\`; got a list
jobs: { a: { steps: ▸[] } }
=> jobs.a.steps: expected at least one step; got an empty list
jobs: { a: { steps: ▸{ run: x } } }
=> jobs.a.steps: expected a list of steps; got a map
jobs: { a: { steps: [▸make] } }
=> jobs.a.steps[0]: expected a step: a map with \`run\` or \`approval\`; got "make"
jobs: { a: { steps: [{ name: x, run: x }, { name: ▸x, run: x }] } }
=> jobs.a.steps[1].name: "x" is also the name of step 1; give each its own name
secrets: [A]
jobs: { a: { steps: [{ run: x, env: { ▸A: 1 } }] } }
=> jobs.a.steps[0].env.A: "A" is also a secret; rename one of them
inputs: { properties: { items: { type: string } } }
jobs: { a: { for-each: ▸items, steps: [{ run: x }] } }
=> jobs.a.for-each: expected an input that is a list; "items" lacks \`type: array\`
`;

/** Jobs by the keys beside their steps. */
const BETWEEN_JOBS = `
one: {}, two: { needs: [▸ones] }
=> jobs.two.needs[0]: there is no job "ones"; did you mean "one"?
one: {}, two: { needs: [one, ▸one] }
=> jobs.two.needs[1]: "one" is already listed; list it once
one: { needs: ▸one }
=> jobs.one.needs: jobs need each other: one -> one; remove one of the needs
one: { needs: two }, two: { needs: [▸one] }
=> jobs.two.needs[0]: jobs need each other: two -> one -> two; remove one of the needs
one: { if: ▸failure }
=> jobs.one.if: the job can never run: \`if: failure\` is about the jobs in \`needs\`, and it has none
one: {}, two: { needs: one, if: failure }, three: { needs: ▸[one, two] }, four: { needs: three }
=> jobs.three.needs: the job can never run: it waits for "one" to succeed and, through another job, to fail; use \`if: always\`
`;
const jobs = (text: string) =>
  `jobs: { ${text.replaceAll(/\{\s*(.*?)\s*\}/g, (_, keys) => `{ ${keys}${keys && ', '}steps: [{ run: x }] }`)} }`;

describe.each([
  ['at the top', AT_THE_TOP, top],
  ['inputs', OF_INPUTS, inputs],
  ['a job', OF_A_JOB, job],
  ['a step', OF_A_STEP, withStep],
  ['a file', OF_A_FILE, (text: string) => text],
  ['jobs that need others', BETWEEN_JOBS, jobs],
])('%s', (_where, table, wrap) => {
  test.each(casesOf(table))('%j has one problem: %s', (text, message) => only(wrap(text), message));
});

describe('an expression', () => {
  const message = (content: string) =>
    `\${{ ${content} }}: there are no expressions; use variables in the script: $INPUT_..., secrets and \`env\``;

  test.each(['inputs.dry-run', 'secrets.TOKEN', 'a && b'])('${{ %s }} is refused', (content) => {
    only(withStep(`run: echo ▸\${{ ${content} }}`), `jobs.build.steps[0].run: ${message(content)}`);
  });

  test.each([
    [withStep('run: |\n  one\n  two ▸${{ env.A }}\n'), `jobs.build.steps[0].run: ${message('env.A')}`],
    [job('needs: ▸${{ env.A }}'), `jobs.build.needs: ${message('env.A')}`],
    [top('env: { "▸${{ env.A }}": 1 }'), `env.\${{ env.A }}: ${message('env.A')}`],
    [top('env: { A: ▸${{ env.B }} }'), message('env.B')],
  ])('is refused in a block, a value, a key, and what is not even YAML: %j', among);

  test('is refused as often as it is there', () => {
    expect(problemsOf(withStep('run: ${{ env.A }} ${{ env.B }}'))).toHaveLength(2);
  });
});

/** Problems of keys. Every problem stands where its cause does: `▸` marks the place. */
import { describe, test } from '@jest/globals';
import { inputs, job, only, top, withStep } from './language-support.js';

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
      'x-anchors: unknown key; known are name, description, inputs, outputs, env, secrets, concurrency, priority, queue, timeout-minutes, estimate-minutes, jobs',
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
      withStep('approval: { message: x, ▸fourEyes: true }'),
      'jobs.build.steps[0].approval.fourEyes: unknown key; use `four-eyes`',
    ],
    [
      withStep('approval: { message: x, ▸reviewers: [a] }'),
      'jobs.build.steps[0].approval.reviewers: unknown key; use `approvers`',
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

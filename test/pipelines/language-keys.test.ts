/** Problems of keys. Every problem stands where its cause does: `▸` marks the place. */
import { describe, test } from '@jest/globals';
import { inputs, job, only, top, withStep } from './language-support.js';

describe('unknown keys', () => {
  test.each([
    [
      top('▸on: push'),
      'on: unknown key; a pipeline starts when its tool is called: remove it; the arguments of a call are declared under `inputs`',
    ],
    [top('▸descripton: x'), 'descripton: unknown key; did you mean "description"?'],
    [
      top('▸x-anchors: 1'),
      'x-anchors: unknown key; known are name, description, inputs, outputs, env, secrets, concurrency, priority, queue, timeout-minutes, estimate-minutes, jobs',
    ],
    [job('▸forEach: a'), 'jobs.build.forEach: unknown key; did you mean "for-each"?'],
    [
      withStep('▸uses: actions/checkout@v4'),
      "jobs.build.steps[0].uses: unknown key; there are no actions: write commands under `run` of a job's steps",
    ],
    [
      withStep('run: x\n▸shell: python'),
      'jobs.build.steps[0].shell: unknown key; the shell is `bash -eo pipefail`: remove it, and call another in the script',
    ],
    [withStep('run: x\n▸jobs: 3'), 'jobs.build.steps[0].jobs: unknown key; it belongs to a pipeline'],
    [
      withStep('run: x\nretry: { attempts: 2, ▸delay: 3 }'),
      'jobs.build.steps[0].retry.delay: unknown key; known are attempts, backoff',
    ],
    [
      withStep('approval: { message: x, ▸inputs: {} }'),
      'jobs.build.steps[0].approval.inputs: unknown key; known are message, fields, approvers, four-eyes',
    ],
    [
      inputs('▸version: { type: string }'),
      'inputs.version: unknown key; put it under `properties`: inputs.properties.version',
    ],
    [
      inputs('properties: { a: { ▸$ref: "#" } }'),
      'inputs.properties.a.$ref: unknown key; common ones are type, description, default, enum, properties, items; there are no references',
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

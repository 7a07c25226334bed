/** Problems of values. Every problem stands where its cause does: `▸` marks the place. */
import { describe, test } from '@jest/globals';
import { inputs, job, only, top, withStep } from './language-support.js';

describe('values of another kind', () => {
  const step = 'jobs.build.steps[0]';
  const variable = 'expected the name of a variable: a letter or _, then letters, digits or _';
  const name = 'a letter or _, then letters, digits, _ or -, at most 64 characters';
  test.each([
    [
      top('name: ▸CI build'),
      'name: expected the name of a tool: a letter, then letters, digits or _, at most 64 characters, and not operation_ at the beginning; got "CI build"',
    ],
    [top('▸inputs:'), 'inputs: expected a schema, such as `{ type: string }`; got nothing'],
    [inputs('type: ▸string'), 'inputs.type: expected object; got "string"'],
    [
      inputs('title: ▸{ type: string }'),
      'inputs.title: expected text; got a map; put it under `properties`: inputs.properties.title',
    ],
    [
      inputs('properties: { a: { type: ▸choice } }'),
      'inputs.properties.a.type: expected string, number, integer, boolean, array, object or null; got "choice"',
    ],
    [
      inputs('properties: { a: { required: ▸true } }'),
      'inputs.properties.a.required: expected a list of names; got true; list the required names in `required`, next to `properties`',
    ],
    [
      inputs('properties: { a: { pattern: ▸"(" } }'),
      'inputs.properties.a.pattern: expected a regular expression; Invalid regular expression: /(/u: Unterminated group',
    ],
    [
      inputs('properties: { a: { pattern: ▸^a(?=b) } }'),
      'inputs.properties.a.pattern: invalid or unsupported Perl syntax: `(?=`; expected syntax of RE2, which is matched in linear time',
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
    [top('env: { ▸A-B: 1 }'), `env.A-B: ${variable}; got "A-B"`],
    [
      top('env: { ▸LONGHAUL_X: 1 }'),
      "env.LONGHAUL_X: names that begin with LONGHAUL_ are Longhaul's own; choose another",
    ],
    [top('env: { A: ▸[1] }'), 'env.A: expected text, a number, true or false; got a list'],
    [top('secrets: ▸{ A: b }'), 'secrets: expected a list of names; got a map'],
    [
      top('secrets: [▸APPROVAL_X]'),
      "secrets[0]: names that begin with APPROVAL_ are Longhaul's own; choose another",
    ],
    [
      `secrets: [A]\n${withStep('run: x\nenv: { ▸A: 1 }')}`,
      `${step}.env.A: "A" is also a secret; rename one of them`,
    ],
    [
      top('concurrency: ▸{ group: a }'),
      'concurrency: expected a whole number from 1 to 200; got a map; use `queue: { concurrency: 1 }` at the top of the file: runs of the pipeline take turns',
    ],
    [top('timeout-minutes: ▸0'), 'timeout-minutes: expected minutes above 0; got 0'],
    ['jobs: { a: { steps: ▸[] } }', 'jobs.a.steps: expected at least one step; got an empty list'],
    ['▸description: x', 'jobs: missing; expected a map of names and jobs'],
    ['jobs: { a: { steps: ▸{ run: x } } }', 'jobs.a.steps: expected a list of steps; got a map'],
    [
      'jobs: { a: { steps: [▸make] } }',
      'jobs.a.steps[0]: expected a step: a map with `run` or `approval`; got "make"',
    ],
    [withStep('▸name: nothing'), `${step}.run: missing; expected a script, or \`approval\``],
    [withStep('run: x\nname: ▸"a\\nb"'), `${step}.name: expected a name of one line; got "a\\nb"`],
    [
      withStep('run: x\nif: ▸failure()'),
      `${step}.if: expected success, failure or always; got "failure()"; write \`failure\``,
    ],
    [
      withStep('run: x\nif: ▸a == b'),
      `${step}.if: expected success, failure or always; got "a == b"; there are no expressions: test it in the script`,
    ],
    [
      withStep('run: x\n▸retry: { backoff: 1 }'),
      `${step}.retry.attempts: missing; expected a whole number from 1 to 100`,
    ],
    [
      withStep('approval: ▸true'),
      `${step}.approval: expected a map such as \`{ message: Deploy? }\`; got true`,
    ],
    [
      withStep('▸approval: {}').replace('{}', '{ fields: { properties: {} } }'),
      `${step}.approval.message: missing; expected a question`,
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
      withStep('run: x\nworking-directory: ▸a/../../b'),
      `${step}.working-directory: expected a folder within the workspace; got "a/../../b"; use cd in the script`,
    ],
    [
      withStep('run: x\nworking-directory: ▸$HOME'),
      `${step}.working-directory: variables aren't expanded here; got "$HOME"; use cd in the script`,
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
      'jobs.build.outputs: expected a list of the keys that steps write to $LONGHAUL_OUTPUT; got a map',
    ],
    [
      top('outputs: { a: ▸build }'),
      'outputs.a: expected `job.key`: a job, and a key of its outputs; got "build"',
    ],
  ])('%s', (text, message) => only(text, message));
});

/** Problems of a file as YAML. Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, casesOf, inputs, JOBS, only, problemsOf, top, withStep } from './language-support.js';

const artifacts = (list: string) =>
  `jobs:\n  build:\n    steps: [{ run: x }]\n    artifacts:${list.startsWith('[') ? ' ' : '\n      - '}${list}\n`;

test.each([
  ['▸*.tgz', "'*.tgz'", ''],
  ['[a, ▸*.tgz]', "'*.tgz'", ''],
  ['[▸*log]', "'*log'", ''],
  ['[dist/*, ▸!*.map]', "'!*.map'", ''],
  ['*.▸{js,css}', "'*.{js,css}'", 'not YAML: '],
  ['▸*', "'*'", 'not YAML: '],
  ['!▸{a,b}/**', "'!{a,b}/**'", 'not YAML: '],
])('a pattern without quotes, which YAML reads as something else, is named: %s', (list, quoted, before) =>
  among(artifacts(list), `${before}text that begins with ${quoted[1]} needs quotes: ${quoted}`),
);

const ONE_PROBLEM = `
${JOBS}
▸---
${JOBS}
=> expected one document; \`---\` begins another
${JOBS}
env:
  A: 1
  ▸A: 2
=> env.A: duplicate key; keep one of them
${top('env: { ▸<<: { A: 1 } }')}
=> env.<<: YAML 1.2 has no merge keys; repeat the keys
${top('env:\n  ▸{ a: b }: c')}
=> env: expected a key that is text; got a map
${top('env: { ▸__proto__: 1 }')}
=> env.__proto__: the name is reserved; choose another
${top('env: { A: ▸"a\\0b" }')}
=> env.A: expected a value that JSON can hold; got a NUL, which no variable or script can contain
${inputs('properties: { a: { enum: [▸.inf] } }')}
=> inputs.properties.a.enum[0]: expected a value that JSON can hold; got a number that JSON cannot represent
${inputs('properties: { a: { enum: [9007199254740991, ▸9007199254740993] } }')}
=> inputs.properties.a.enum[1]: expected a number that keeps its digits (integers up to 9007199254740991); got 9007199254740993; write it as a string
${inputs('properties: { env: { default: ▸1e-400 } }')}
=> inputs.properties.env.default: expected a number that keeps its digits (integers up to 9007199254740991); got 1e-400; write it as a string
jobs:
  build:
    steps:
      - name: a
       ▸run: x
=> not YAML: expected \`- \` before an item, or the indentation of the lines before it
jobs:
  build:
    steps:
      - name: ▸a
          run: x
=> not YAML: its key has this value already; expected the next line at the key's indentation
jobs:
  build:
    steps:
      - run: |
          echo a
        ▸echo b
=> not YAML: expected a key with a colon and a space, \`key: value\`, \`- \` before an item, or the indentation of the lines before it; got text alone
`;

const AMONG_OTHERS = `
▸
=> expected a pipeline: a map with \`jobs\`; got an empty file
▸- a
=> expected a pipeline: a map with \`jobs\`; got a list
jobs:
▸\tbuild: 1
=> not YAML: tabs can't be used for indentation; use spaces
description: ▸Builds: fast
=> not YAML: text that contains ": " needs quotes
name: "abc▸
=> not YAML: Missing closing "quote
name: a
description: a▸\u0000b
=> expected text; got the control character U+0000
${top('name: ▸!secret abc')}
=> Unresolved tag: !secret; remove it
▸%YAML 1.1
---
${JOBS}
=> expected YAML 1.2; got 1.1
${top('description: ▸*nothing')}
=> *nothing: there is no &nothing before it
jobs:
  build:
  steps:
    ▸- run: make
=> jobs.steps: expected a job: a map with \`steps\`; got a list
jobs:
  ▸build:
  steps:
    - run: make
=> jobs.build: expected a job: a map with \`steps\`; got nothing
jobs:
  build:
    steps:
      - ▸run:npm ci
=> jobs.build.steps[0]: expected a step: a map with \`run\` or \`approval\`; got "run:npm ci"
jobs:
  build:
    needs: [a, b
    ▸steps: [{ run: x }]
=> not YAML: expected ] before this, to close the open [
${withStep('run: ▸@foo').trimEnd()}
=> not YAML: Plain value cannot start with reserved character @; put the text between quotes, or write it below \`|\`
`;

describe('a file that is not as YAML has it', () => {
  test.each(casesOf(ONE_PROBLEM))('%j has one problem: %s', only);
  test.each(casesOf(AMONG_OTHERS))('%j has this problem: %s', among);
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

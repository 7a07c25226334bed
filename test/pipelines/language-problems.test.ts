/** Problems of a file as a whole. Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, inputs, JOBS, only, problemsOf, top } from './language-support.js';

/** A job with these artifacts. */
const artifacts = (list: string) =>
  `jobs:\n  build:\n    steps: [{ run: x }]\n    artifacts:${list.startsWith('[') ? ' ' : '\n      - '}${list}\n`;

describe('a pattern without quotes', () => {
  test.each([
    ['an alias', '▸*.tgz', "'*.tgz'"],
    ['an alias, in a list on one line', '[a, ▸*.tgz]', "'*.tgz'"],
    ['an alias that looks like a name', '[▸*log]', "'*log'"],
    ['a tag', '[dist/*, ▸!*.map]', "'!*.map'"],
  ])('that is %s to YAML', (_, list, quoted) =>
    among(artifacts(list), `text that begins with ${quoted[1]} needs quotes: ${quoted}`),
  );

  test.each([
    ['braces', '*.▸{js,css}', "'*.{js,css}'"],
    ['nothing else', '▸*', "'*'"],
    ['braces, left out', '!▸{a,b}/**', "'!{a,b}/**'"],
  ])('with %s', (_, list, quoted) =>
    among(artifacts(list), `not YAML: text that begins with ${quoted[1]} needs quotes: ${quoted}`),
  );
});

describe('not YAML', () => {
  test.each([
    ['an empty file', '▸', 'expected a pipeline: a map with `jobs`; got an empty file'],
    ['a list', '▸- a', 'expected a pipeline: a map with `jobs`; got a list'],
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
    [
      'a number that JSON cannot represent',
      inputs('properties: { a: { enum: [▸.inf] } }'),
      'inputs.properties.a.enum[0]: expected a value that JSON can hold; got a number that JSON cannot represent',
    ],
    [
      'an integer beyond 2^53-1',
      inputs('properties: { a: { enum: [9007199254740991, ▸9007199254740993] } }'),
      'inputs.properties.a.enum[1]: expected a number that keeps its digits (integers up to 9007199254740991); got 9007199254740993; write it as a string',
    ],
    [
      'a number that would be 0',
      inputs('properties: { env: { default: ▸1e-400 } }'),
      'inputs.properties.env.default: expected a number that keeps its digits (integers up to 9007199254740991); got 1e-400; write it as a string',
    ],
    [
      'a NUL',
      top('env: { A: ▸"a\\0b" }'),
      'env.A: expected a value that JSON can hold; got a NUL, which no variable or script can contain',
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

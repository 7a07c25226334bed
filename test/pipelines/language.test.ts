import { describe, expect, test } from '@jest/globals';
import { JOBS, pipelineOf, problemsOf, withStep } from './language-support.js';

const EVERY_KEY = `
name: deploy_site
description: Builds and deploys the site.
inputs:
  properties:
    version: { type: string, description: What to deploy. }
    dry-run: { type: boolean, default: false }
    regions: { type: array, items: { type: string }, default: [] }
  required: [version]
outputs:
  url: build.url
  seconds: { value: roll-out.seconds, type: number, description: How long it took. }
env: { CI: true, PRECISION: 1.10, MODE: fast }
secrets: [DEPLOY_KEY]
concurrency: 4
timeout-minutes: 0.5
estimate-minutes: 0.25
jobs:
  build:
    env: { MODE: slow }
    steps:
      - name: Compile
        run: |
          make
          echo "url=https://example.org" >> "$LONGHAUL_OUTPUT"
        working-directory: site/src
        env: { LEVEL: 3 }
        timeout-minutes: 10
        retry: { attempts: 3, backoff: 0.5 }
        idempotent: true
        continue-on-error: true
      - run: make report
        if: failure
    artifacts: [dist/**, report.txt]
    outputs: [url]
  roll-out:
    needs: build
    if: success
    for-each: regions
    steps:
      - approval:
          message: Deploy?
          fields: { properties: { reason: { type: string } }, required: [reason] }
      - run: ./deploy
        if: always
    outputs: [seconds]
  undo:
    needs: [build, roll-out]
    if: failure
    steps: [{ run: ./undo }]
`;

test('every key of a pipeline reaches the pipeline that runs', () => {
  const { jobs, ...rest } = pipelineOf(EVERY_KEY);
  expect(rest).toEqual({
    name: 'deploy_site',
    description: 'Builds and deploys the site.',
    inputs: {
      type: 'object',
      properties: {
        version: { type: 'string', description: 'What to deploy.' },
        'dry-run': { type: 'boolean', default: false },
        regions: { type: 'array', items: { type: 'string' }, default: [] },
      },
      required: ['version'],
      additionalProperties: false,
    },
    outputs: {
      url: { job: 'build', key: 'url', schema: { type: 'string' } },
      seconds: {
        job: 'roll-out',
        key: 'seconds',
        schema: { type: 'number', description: 'How long it took.' },
      },
    },
    env: { CI: 'true', PRECISION: '1.10', MODE: 'fast' },
    secrets: ['DEPLOY_KEY'],
    concurrency: 4,
    timeoutMinutes: 0.5,
    estimateMinutes: 0.25,
  });
  expect(Object.keys(jobs)).toEqual(['build', 'roll-out', 'undo']);
});

test('every key of a job and a step reaches the pipeline that runs', () => {
  const { jobs } = pipelineOf(EVERY_KEY);
  expect(jobs['build']).toEqual({
    needs: [],
    if: 'success',
    env: { MODE: 'slow' },
    steps: [
      {
        name: 'Compile',
        run: 'make\necho "url=https://example.org" >> "$LONGHAUL_OUTPUT"\n',
        workingDirectory: 'site/src',
        env: { LEVEL: '3' },
        timeoutMinutes: 10,
        retry: { attempts: 3, backoffSeconds: 0.5 },
        idempotent: true,
        continueOnError: true,
        if: 'success',
      },
      {
        name: 'step 2',
        run: 'make report',
        env: {},
        idempotent: false,
        continueOnError: false,
        if: 'failure',
      },
    ],
    artifacts: ['dist/**', 'report.txt'],
    outputs: ['url'],
  });
  expect(jobs['roll-out']).toMatchObject({ needs: ['build'], forEach: 'regions', outputs: ['seconds'] });
  expect(jobs['roll-out']!.steps[0]).toEqual({
    name: 'step 1',
    env: {},
    idempotent: false,
    continueOnError: false,
    if: 'success',
    approval: {
      message: 'Deploy?',
      fields: {
        type: 'object',
        properties: { reason: { type: 'string' } },
        required: ['reason'],
        additionalProperties: false,
      },
    },
  });
  expect(jobs['undo']).toMatchObject({ needs: ['build', 'roll-out'], if: 'failure' });
});

test('what a file leaves out has its default, and the tool its name from the file', () => {
  expect(pipelineOf(JOBS, '/project/pipelines/nightly-build.yaml')).toEqual({
    name: 'nightly_build',
    description: 'Runs the pipeline nightly_build: build.',
    inputs: { type: 'object', properties: {}, additionalProperties: false },
    outputs: {},
    env: {},
    secrets: [],
    concurrency: 32,
    timeoutMinutes: 1440,
    jobs: {
      build: {
        needs: [],
        if: 'success',
        env: {},
        steps: [
          { name: 'step 1', run: 'make', env: {}, idempotent: false, continueOnError: false, if: 'success' },
        ],
        artifacts: [],
        outputs: [],
      },
    },
  });
  expect(pipelineOf(withStep('run: make\nretry: { attempts: 2 }')).jobs['build']!.steps[0]!.retry).toEqual({
    attempts: 2,
    backoffSeconds: 5,
  });
});

test('the data of a pipeline goes through JSON unchanged', () => {
  const pipeline = pipelineOf(EVERY_KEY);
  expect(JSON.parse(JSON.stringify(pipeline))).toEqual(pipeline);
});

describe('what is legal although it looks odd', () => {
  test.each([
    [
      'numbers in env are as they are written',
      'env: { A: 007, B: 0x1F, C: 1e3, D: 12345678901234567890 }',
      '007 0x1F 1e3 12345678901234567890',
    ],
    ['words that YAML 1.1 took for booleans are texts', 'env: { A: yes, B: off }', 'yes off'],
  ])('%s', (_, env, values) => {
    expect(Object.values(pipelineOf(`${env}\n${JOBS}`).env).join(' ')).toBe(values);
  });

  test.each([
    ['Windows line ends', JOBS.replace('{ run: make }', '{ run: "make" }') + '\r\nenv:\r\n  A: 1\r\n'],
    ['a byte order mark', `\uFEFF${JOBS}`],
    ['a document mark before and an end mark behind', `---\n${JOBS}\n...\n`],
    [
      'a job that nobody needs',
      'jobs: { a: { steps: [{ run: x }] }, b: { if: always, steps: [{ run: x }] } }',
    ],
    ['a working directory that comes back', withStep('run: x\nworking-directory: a/../b')],
    ['an input named PATH', `inputs: { properties: { PATH: { type: string } } }\n${JOBS}`],
    ['a long number in env of a step', withStep('run: x\nenv: { A: 12345678901234567890 }')],
    ['aliases', 'jobs: { a: { steps: &steps [{ run: x }] }, b: { steps: *steps } }'],
    ['names in any script', withStep('name: 构建 ✓\nrun: x')],
  ])('%s', (_, text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test('a script in a file with Windows line ends has none', () => {
    const text = 'jobs:\r\n  a:\r\n    steps:\r\n      - run: |\r\n          one\r\n          two\r\n';
    expect(pipelineOf(text).jobs['a']!.steps[0]!.run).toBe('one\ntwo\n');
  });
});

/** Declared outputs: a value that doesn't fit ends its job, before anything that needs the job runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { SHARED_SECRET } from '../support/test-stack.js';
import { PipelineProject, stepStatuses, textOf } from './support.js';

jest.setTimeout(STACK_MS);
const INPUTS = `
inputs:
  properties:
    ledger: { type: string }
    value: { type: string }
    items: { type: array, items: { type: string }, default: [] }
  required: [ledger]
`;
const note = (line: string) => `echo ${line} >> "$INPUT_LEDGER"`;
const write = (key: string, variable = 'INPUT_VALUE') => `echo "${key}=$${variable}" >> "$LONGHAUL_OUTPUT"`;
const DEPLOY = `
  deploy:
    needs: count
    steps: [{ name: Deploy, run: '${note('deploy')}' }]
`;
/** A pipeline whose output `total` is the value `n` of the job `count`. */
const withTotal = (jobs: string, schema = 'type: integer') => `
${INPUTS}
outputs: { total: { value: count.n, ${schema} } }
jobs:
${jobs}
${DEPLOY}
`;
const typed = (schema: string) =>
  withTotal(
    `
  count:
    outputs: [n]
    steps:
      - { name: Count, run: '${note('count')}; ${write('n')}' }
      - { name: Report, run: '${note('report')}' }
`,
    schema,
  );

const PIPELINES = {
  out_integer: typed('type: integer, minimum: 1'),
  out_array: typed('type: array, items: { type: integer }'),
  out_each: `
${INPUTS}
outputs: { sizes: { value: count.size, type: integer } }
jobs:
  count:
    for-each: items
    outputs: [size]
    steps: [{ run: '${write('size', 'LONGHAUL_ITEM')}' }]
  tidy: { needs: count, if: always, steps: [{ run: '${note('tidy')}' }] }
  rescue: { needs: count, if: failure, steps: [{ run: '${note('rescue')}' }] }
${DEPLOY}
`,
  out_always: withTotal(`
  fails: { steps: [{ run: exit 9 }] }
  count: { needs: fails, if: always, outputs: [n], steps: [{ run: '${write('n')}' }] }
`),
  out_secret: `
secrets: [SHARED]
${withTotal(`
  count: { outputs: [n], steps: [{ run: '${write('n', 'SHARED')}' }] }
`)}
`,
  out_resumed: withTotal(`
  count:
    outputs: [n]
    steps:
      - { name: Count, run: '${note('count')}; n=$(cat "$INPUT_LEDGER.value" 2> /dev/null || echo several); ${write('n', 'n')}' }
      - { name: Publish, run: '${note('publish')}; test -e "$INPUT_LEDGER.ready"' }
`),
};

const project = PipelineProject.ofFile(PIPELINES);

const newToken = (result: any): string => {
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent.token;
};

test('a value that does not fit fails its job, and nothing that needs the job runs', async () => {
  const token = await project.startOn('out_integer', 'misfit', { value: '2.5' });
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain(
    'count: output "total" (count.n), declared as integer: expected integer; got 2.5',
  );
  expect(textOf(result)).toContain('resume from count/1');
  expect(project.lines('misfit')).toEqual(['count', 'report']);
  expect(stepStatuses(await project.children(token))).toEqual({
    'count/1': 'completed',
    'count/2': 'completed',
    'deploy/1': 'skipped',
  });
});

test('a value that fits reaches the result with its type', async () => {
  const result = await project.finish(await project.startOn('out_array', 'fits', { value: '[1, 2]' }));
  expect(result.structuredContent).toEqual({ total: [1, 2] });
  expect(project.lines('fits')).toEqual(['count', 'report', 'deploy']);
});

test('a job that runs for each fails with the item whose value does not fit', async () => {
  const token = await project.startOn('out_each', 'each', { items: ['1', 'many', '3'] });
  const result = await project.finish(token);
  expect(textOf(result)).toContain(
    'count[1]: output "sizes[1]" (count.size), declared as integer: expected integer, written as JSON; got "many"',
  );
  expect(project.lines('each').sort()).toEqual(['rescue', 'tidy']);
  const statuses = (await project.children(token)).map(({ name, status }) => [name, status]);
  expect(statuses).toEqual([
    ['count[0]', 'completed'],
    ['count[1]', 'failed'],
    ['count[2]', 'completed'],
    ['tidy', 'completed'],
    ['rescue', 'completed'],
    ['deploy', 'skipped'],
  ]);
});

test('a job that runs for each of an empty list has an empty list of values', async () => {
  const result = await project.finish(await project.startOn('out_each', 'none', { items: [] }));
  expect(result.structuredContent).toEqual({ sizes: [] });
});

test('a job that runs in any case is checked too, and both failures are named', async () => {
  const token = await project.startOn('out_always', 'always', { value: 'x' });
  const text = textOf(await project.finish(token));
  expect(text).toContain('fails: step "step 1" failed with exit code 9');
  expect(text).toContain('Also failed: count');
  const count = (await project.children(token)).find(({ name }) => name === 'count');
  expect(count).toMatchObject({ status: 'failed', statusMessage: expect.stringContaining('got "x"') });
  expect(project.lines('always')).toEqual([]);
});

test('a value that a masked secret has spoilt is shown masked', async () => {
  const text = textOf(await project.finish(await project.startOn('out_secret', 'secret')));
  expect(text).toContain('expected integer, written as JSON; got "***"; secrets in it are masked as ***');
  expect(text).not.toContain(SHARED_SECRET);
  expect(project.lines('secret')).toEqual([]);
});

test('resume checks the values of finished steps, and repeats a step only where it is asked to', async () => {
  const ledger = join(project.ledgers, 'resumed');
  // Fails in its second step, before its first step's value is looked at.
  const first = await project.startOn('out_resumed', 'resumed');
  expect(textOf(await project.finish(first))).toContain('step "Publish" failed');
  writeFileSync(`${ledger}.ready`, '');
  const second = newToken(await project.resume(first));
  expect(textOf(await project.finish(second))).toContain(
    'got "several"; to write it again, resume from count',
  );
  expect(project.lines('resumed')).toEqual(['count', 'publish', 'publish']);
  const third = newToken(await project.resume(second));
  expect(textOf(await project.finish(third))).toContain('got "several"');
  expect(project.lines('resumed')).toEqual(['count', 'publish', 'publish']);
  writeFileSync(`${ledger}.value`, '12');
  const fourth = newToken(await project.resume(third, 'count/1'));
  expect((await project.finish(fourth)).structuredContent).toEqual({ total: 12 });
  expect(project.lines('resumed')).toEqual(['count', 'publish', 'publish', 'count', 'publish', 'deploy']);
});

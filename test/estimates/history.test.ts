/** Estimates from what is in Temporal, as callers get them. */
import { expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Estimates } from '../../engine/start/estimates.js';
import { TemporalClient } from '../../engine/temporal/client.js';
import { defineTool } from '../../operations/tool/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { openStorage } from '../../platform/storage/index.js';
import { documents, run } from '../cli/commands.js';
import { follow, start } from '../plain/support.js';
import { eventually } from '../stack/cli-process.js';
import { afterThisTest, forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const project = resolve('test/estimates/project');
const folder = temporaryFolder('estimates');
mkdirSync(join(folder, 'data'));
// Own stack: past runs of its own project; its worker is stopped.
const parts = await forAllTests(
  TestStack.start({
    LONGHAUL_PROJECT: project,
    LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
    LONGHAUL_DATA_FOLDERS: join(folder, 'data'),
  }),
);
const client = parts.client.with({});

const items = (count: number) => ({ items: Array.from({ length: count }, () => 'x') });

/** Starts again and again, until the estimate is as wanted: past runs are looked up in the background. */
async function estimateOf(name: string, args: object, wanted: (seconds: number) => boolean): Promise<number> {
  let last = NaN;
  return eventually(
    () => `the estimate of ${name} ${JSON.stringify(args)} is as wanted; it was ${last}`,
    async () => {
      const { token, estimate_seconds: seconds } = await start(client, name, args);
      await client.call('operation_cancel', { token });
      last = seconds;
      return wanted(seconds) && seconds;
    },
    150_000,
  );
}

const runs = (name: string, each: object[]) =>
  Promise.all(
    each.map(async (args) => {
      const { token } = await start(client, name, args);
      return follow(client, token, 'completed');
    }),
  );

test('without past runs it is the fixed one: what every call takes, and what the size adds', async () => {
  const { token, estimate_seconds: seconds } = await start(client, 'counted', items(2));
  expect(seconds).toBe(114);
  await follow(client, token, 'completed');
});

test('with past runs it follows the size that the author named; awaited people are no part of it', async () => {
  await runs('counted', [1, 3, 4, 6, 8, 10].map(items));
  const asking = await start(client, 'counted', { ...items(2), ask: true });
  await follow(client, asking.token, 'input_required');
  // Time passes while nobody answers.
  await new Promise((settle) => setTimeout(settle, 6_000));
  const { next_action: asked } = (await client.call('operation_get', { token: asking.token })).result
    .structuredContent;
  await client.call('operation_answer', { token: asking.token, key: asked.args.key, content: { ok: true } });
  await follow(client, asking.token, 'completed');
  // Half a second an item; the median of these runs is far less.
  await estimateOf('counted', items(20), (estimate) => estimate > 5 && estimate < 25);
  const page = await eventually('it is listed', async () => {
    const { result } = await client.call('operation_list', {
      tool: 'counted',
      status: 'completed',
      limit: 100,
    });
    return result.structuredContent.operations.find((one: any) => one.token === asking.token);
  });
  expect(page.estimate_seconds).toBeGreaterThan(0);
  const wholeSeconds = (Date.parse(page.closed_at) - Date.parse(page.created_at)) / 1000;
  expect(page.worked_seconds).toBeLessThan(wholeSeconds - 5);
});

test('of work whose size only the work itself knows, it is what the same call took', async () => {
  const places = ['a', 'bbb', 'cccc', 'dddddd', 'eeeeeeeeee'];
  await runs(
    'measured',
    places.map((place) => ({ place })),
  );
  const unknown = await estimateOf('measured', { place: 'never seen' }, (estimate) => estimate < 50);
  await estimateOf('measured', { place: 'eeeeeeeeee' }, (estimate) => estimate < 50 && estimate > unknown);
});

test('variants of a tool are estimated each for itself; a burst of small calls does not speak for a large one', async () => {
  await runs(
    'counted',
    Array.from({ length: 6 }, () => items(1)),
  );
  const deep = await start(client, 'counted', { ...items(2), deep: true });
  expect(deep.estimate_seconds).toBe(1002);
  await follow(client, deep.token, 'completed');
  await estimateOf('counted', { ...items(2), deep: true }, (estimate) => estimate < 500);
});

test('time in queue is not counted as work', async () => {
  const worker = parts.parts.findLast(({ process }) => process.spawnargs.includes('worker'))!;
  await worker.end();
  const { token } = await start(client, 'counted', items(1));
  await eventually('it has waited', async () => {
    const { status_message: message = '' } = (await client.call('operation_get', { token })).result
      .structuredContent;
    return String(message).startsWith('no worker has taken the work');
  });
  parts.worker();
  await follow(client, token, 'completed');
  const listed = await eventually('it is listed', async () => {
    const { result } = await client.call('operation_list', {
      tool: 'counted',
      status: 'completed',
      limit: 100,
    });
    return result.structuredContent.operations.find((one: any) => one.token === token);
  });
  const wholeSeconds = (Date.parse(listed.closed_at) - Date.parse(listed.created_at)) / 1000;
  expect(listed.worked_seconds).toBeLessThan(wholeSeconds - 8);
});

test('pipelines, which share one workflow, are estimated each for itself', async () => {
  await runs('slow', [{}, {}, {}]);
  await runs('quick', [{}, {}, {}]);
  const slow = await estimateOf('slow', {}, (estimate) => estimate < 50);
  const quick = await estimateOf('quick', {}, (estimate) => estimate < 50);
  expect(slow).toBeGreaterThan(4);
  expect(quick).toBeLessThan(slow);
});

test('of a server that has just started it is there without a call before', async () => {
  const home = process.env['LONGHAUL_HOME']!;
  const logger = createLogger('test', 'warn');
  const temporal = new TemporalClient({ home, taskQueue: parts.taskQueue }, openStorage({ home }), logger);
  afterThisTest(() => temporal.close());

  await eventually('it is connected', () => temporal.facts().catch(() => undefined));
  const slow = defineTool({
    name: 'slow',
    description: { does: 'slow' },
    input: { type: 'object', properties: {} },
    estimate: { seconds: 60 },
  });
  const call = {
    principal: 'anonymous',
    argumentsDigest: '',
    size: undefined,
    variant: undefined,
    estimate: slow.estimate,
  };
  const estimates = new Estimates(temporal);
  estimates.preload([slow]);
  const seconds = await eventually('the past runs are read', () => estimates.of(slow, call));
  expect(seconds).toBeGreaterThan(4);
  expect(seconds).toBeLessThan(50);
});

test("a file's size counts before anything starts, and that of all files of a pattern; one outside of the data folders has none", async () => {
  const csv = `a,b\n${'1,2\n'.repeat(5_000_000)}`;
  writeFileSync(join(folder, 'data', 'large.csv'), csv);
  writeFileSync(join(folder, 'outside.csv'), csv);
  const estimateFor = async (path: string) => {
    const { token, estimate_seconds: seconds } = await start(client, 'analyze_dataset', { path });
    await client.call('operation_cancel', { token });
    return seconds;
  };
  const without = await estimateFor('nonesuch.csv');
  expect(await estimateFor('large.csv')).toBeGreaterThan(without * 1.2);
  expect(await estimateFor(join(folder, 'outside.csv'))).toBe(without);
  const one = await estimateFor('large.csv');
  writeFileSync(join(folder, 'data', 'large-2.csv'), csv);
  expect(await estimateFor('large*.csv')).toBeGreaterThan(one * 1.2);
  expect(await estimateFor('none*.csv')).toBe(without);
});

test('longhaul tools --estimates compares them with what past runs took', async () => {
  const { code, stdout } = await run(parts, ['tools', '--estimates']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^TOOL +RUNS +ESTIMATE +TOOK +OFF\n/);
  expect(stdout).toMatch(/^counted +\d+ +[\d.]+s +[\d.]+s +\d+%$/m);
  const [{ estimates }] = documents<any>(await run(parts, ['tools', '--estimates', '--json'])) as [any];
  const counted = estimates.find(({ tool }: any) => tool === 'counted');
  expect(counted.runs.length).toBeGreaterThanOrEqual(7);
  expect(counted.runs[0]).toEqual({
    token: expect.any(String),
    estimateSeconds: expect.any(Number),
    tookSeconds: expect.any(Number),
  });
  expect(estimates.filter(({ tool }: any) => tool.startsWith('operation_'))).toEqual([]);
});

/** Closed pipelines are read and resumed while no worker runs: nothing replays them. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { CHILDREN_MEMO, isStoredClaim } from '../../operations/wire/state.js';
import { storedKeysIn } from '../../platform/temporal/data-converter.js';
import { payloadKey } from '../../platform/storage/keys.js';
import { openStorage } from '../../platform/storage/index.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { PipelineProject, textOf } from './support.js';

jest.setTimeout(OUTAGE_MS);

const INPUTS = `
inputs:
  properties:
    ledger: { type: string }
    who: { type: string, default: nobody }
    waits: { type: boolean, default: false }
  required: [ledger]
`;
const JOBS = `
jobs:
  one:
    outputs: [value]
    steps: [{ run: 'echo one >> "$INPUT_LEDGER"; echo "value=1" >> "$LONGHAUL_OUTPUT"' }]
  two:
    needs: one
    steps:
      - { name: First, run: 'echo "first $INPUT_WHO" >> "$INPUT_LEDGER"' }
      - name: Second
        run: |
          echo "second for $INPUT_WHO"
          echo "second $INPUT_WHO" >> "$INPUT_LEDGER"
          [ -e "$INPUT_LEDGER.fixed" ] || { [ "$INPUT_WAITS" = true ] && exec sleep 600; exit 1; }
`;
const ITEMS = `
concurrency: 6
inputs: { properties: { ledger: { type: string }, items: { type: array } }, required: [ledger, items] }
outputs: { lengths: { value: each.length, type: integer } }
jobs:
  each:
    for-each: items
    outputs: [length]
    steps:
      - name: check
        run: |
          number="\${LONGHAUL_ITEM%%-*}"
          echo "$number" >> "$INPUT_LEDGER"
          echo "checks $number"
          [ "$number" != 3 ] || [ -e "$INPUT_LEDGER.fixed" ]
          echo "length=\${#LONGHAUL_ITEM}" >> "$LONGHAUL_OUTPUT"
`;
/** Steps that count in the estimated size of the history, and rarely run: 50 items take three pages. */
const SPARE = Array.from(
  { length: 23 },
  (_, at) => `      - { name: spare ${at}, if: failure, run: 'true' }\n`,
).join('');
const PIPELINES = {
  two_jobs: INPUTS + JOBS,
  short: `timeout-minutes: 0.5${INPUTS}${JOBS}`,
  lost: INPUTS + JOBS,
  many: ITEMS,
  paged: ITEMS + SPARE,
};

let project: PipelineProject;
let tokens: Record<string, string>;
/** An operation whose step runs on. */
let open: string;
/** Operations that resume those of the same names. */
const resumed: Record<string, string> = {};
const storage = openStorage({ home: process.env['LONGHAUL_HOME']! });

/** So long that a record of 30 of them is too large for the memo. */
const itemsOf = (count: number) => Array.from({ length: count }, (_, at) => `${at}-`.padEnd(4_000, 'x'));

const worker = () => project.parts.parts.find((part) => part.process.spawnargs.at(-1) === 'worker')!;

beforeAll(async () => {
  // Its own worker, which ends before the tests.
  project = await PipelineProject.start(PIPELINES);
  const { client } = project;
  const start: Record<string, () => Promise<string>> = {
    failed: () => project.startOn('two_jobs', 'failed'),
    changed: () => project.startOn('two_jobs', 'changed'),
    'without its file': () => project.startOn('lost', 'without its file'),
    'timed out': () => project.startOn('short', 'timed out', { waits: true }),
    canceled: () => project.startOn('two_jobs', 'canceled', { waits: true }),
    terminated: () => project.startOn('two_jobs', 'terminated', { waits: true }),
    large: () => project.startOn('many', 'large', { items: itemsOf(30) }),
    damaged: () => project.startOn('many', 'damaged', { items: itemsOf(30) }),
    paged: () => project.startOn('paged', 'paged', { items: itemsOf(50) }),
    partial: () => client.start('large_values', { partialBytes: 300_000, thenWaitSeconds: 600 }),
  };
  tokens = Object.fromEntries(
    await Promise.all(Object.entries(start).map(async ([name, begin]) => [name, await begin()])),
  );
  const running = (name: string) =>
    eventually(`${name} waits`, () => project.lines(name).includes('second nobody'), OUTAGE_MS);
  const isPartial = async () => (await partialOf(tokens['partial']!)) !== undefined;
  await Promise.all([
    running('canceled'),
    running('timed out'),
    running('terminated'),
    eventually('there is a partial result', isPartial, OUTAGE_MS),
  ]);
  for (const name of ['canceled', 'partial']) await client.request('tasks/cancel', { taskId: tokens[name]! });
  await (await project.parts.temporal()).workflow.getHandle(tokens['terminated']!).terminate('a test');
  const ends: Record<string, string> = { canceled: 'cancelled', partial: 'cancelled' };
  for (const [name, token] of Object.entries(tokens))
    await client.until(token, ends[name] ?? 'completed', OUTAGE_MS);
  open = await project.startOn('two_jobs', 'open', { waits: true });
  await running('open');
  // Lines that the worker has not copied to storage when it is killed are read by the next worker only.
  await eventually('the log of the open one is stored', async () => {
    const { structuredContent } = await call('operation_get', { token: open, view: 'logs', step: 'two/2' });
    return structuredContent?.log?.lines.length > 0;
  });
  rmSync(join(project.folder, 'lost.yml'));
  await worker().end('SIGKILL');
  for (const name of Object.keys(tokens)) writeFileSync(join(project.ledgers, `${name}.fixed`), '');
}, 2 * OUTAGE_MS);
afterAll(() => project?.stop());

const call = (name: string, args: object) => project.call(name, args);

async function partialOf(token: string): Promise<any> {
  return (await call('operation_get', { token, view: 'partial' })).structuredContent.partial;
}

/** The rows of the operation's parts, or of those of one of its pages. */
async function partsOf(token: string, step?: string): Promise<any[]> {
  const args = { token, view: 'steps', ...(step === undefined ? {} : { step }) };
  const { structuredContent, isError, content } = await call('operation_get', args);
  if (isError) throw new Error(content[0].text);
  expect(structuredContent.is_live).toBe(true);
  return structuredContent.children;
}

async function storedKeys(workflowId: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of storage.keys(payloadKey(workflowId, ''))) keys.push(key);
  return keys;
}

/** The memo as any client of Temporal gets it, without Longhaul's storage. */
async function memoOf(workflowId: string): Promise<Record<string, any>> {
  const handle = (await project.parts.temporal()).workflow.getHandle(workflowId);
  return (await handle.describe()).memo ?? {};
}

describe('without a worker', () => {
  test.each([
    ['failed', {}],
    ['changed', { from: 'two/First', changes: { who: 'somebody' } }],
    ['without its file', {}],
    ['timed out', {}],
    ['canceled', {}],
    ['large', {}],
    ['paged', {}],
  ])('a pipeline is resumed: %s', async (name, options) => {
    const result = await call('operation_resume', { token: tokens[name], ...options });
    expect(result.isError ? textOf(result) : '').toBe('');
    resumed[name] = result.structuredContent.token;
    expect((await project.client.get(resumed[name]!)).statusMessage).toBe('waiting for a worker');
  });

  test('one that Temporal ended says that a worker has to find out where it stopped', async () => {
    const result = await call('operation_resume', { token: tokens['terminated'] });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('only a worker can find out where it stopped, and none has answered');
    expect(textOf(result)).toContain('call "two_jobs" again');
  });

  test('the steps of a large list of jobs, and a large partial result, are read from storage', async () => {
    expect((await partialOf(tokens['partial']!)).text).toHaveLength(300_000);
    const token = tokens['large']!;
    const parts = await partsOf(token);
    expect(parts).toHaveLength(30);
    expect(parts[29]).toMatchObject({ name: 'each[29]', status: 'completed', outputs: { length: '4000' } });
    const { [CHILDREN_MEMO]: claim } = await memoOf(token);
    const key = expect.stringContaining(payloadKey(token, ''));
    expect(claim).toEqual({ longhaul: 'stored', key, bytes: expect.any(Number) });
    expect(await storedKeys(token)).toContain(claim.key);
    const temporal = await project.parts.temporal();
    expect(storedKeysIn(await temporal.workflow.getHandle(token).fetchHistory())).toContain(claim.key);
  });

  test('the items of pages are there, from storage, with their logs', async () => {
    const token = tokens['paged']!;
    const pages = await partsOf(token);
    expect(pages.map(({ name, status }) => [name, status])).toEqual([
      ['each[0-21]', 'failed'],
      ['each[22-43]', 'completed'],
      ['each[44-49]', 'completed'],
    ]);
    expect(pages[0].status_message).toBe('1 of 22 failed: each[3]');
    for (const [name, position] of [
      ['each[22-43]', 22],
      ['each[44-49]', 44],
    ] as const) {
      const items = await partsOf(token, name);
      expect(items[0]).toMatchObject({ name: `each[${position}]`, status: 'completed' });
      const { [CHILDREN_MEMO]: children } = await memoOf(`${token}/${name}`);
      expect(isStoredClaim(children)).toBe(true);
    }
    expect(await storedKeys(`${token}/each[22-43]`)).not.toEqual([]);
    const log = await call('operation_get', { token, view: 'logs', step: 'each[3]/check' });
    expect(log.structuredContent.log.lines[0].text).toBe('checks 3');
  });

  test('the log of a running step is read by its name, and which step is meant is unknown', async () => {
    const logOf = (args: object) => call('operation_get', { token: open, view: 'logs', ...args });
    const page = (await logOf({ step: 'two/2' })).structuredContent.log;
    expect(page).toMatchObject({
      lines: [{ text: 'second for nobody' }],
      is_at_end: true,
      is_complete: false,
    });
    expect((await logOf({ cursor: page.cursor })).structuredContent.log).toMatchObject({
      is_complete: false,
    });
    expect(await logOf({})).toMatchObject({
      isError: true,
      _meta: { 'longhaul/error': { kind: 'unavailable', retryable: true } },
    });
    await (await project.parts.temporal()).workflow.getHandle(open).terminate('a test');
    await project.client.until(open, 'completed');
    const ended = await logOf({ step: 'two/2', tail: 1 });
    expect(ended.structuredContent.log).toMatchObject({ is_complete: true });
  });

  test('a lost value costs the list of steps and the resume, not the record or a list', async () => {
    const token = tokens['damaged']!;
    await storage.remove((await memoOf(token))[CHILDREN_MEMO].key);
    const steps = await call('operation_get', { token, view: 'steps' });
    expect(steps.structuredContent).toMatchObject({ status: 'failed', is_live: false });
    expect(textOf(steps)).toContain("the list of its steps can't be read from storage");
    const byName = await call('operation_get', { token, view: 'logs', step: 'each[3]/check' });
    expect(textOf(byName)).toContain('name the step by its position');
    const log = await call('operation_get', { token, view: 'logs', step: 'each[3]/1' });
    expect(log.structuredContent.log.lines[0].text).toBe('checks 3');
    const refused = await call('operation_resume', { token });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('a large value of it is lost');
    const isListed = async () => {
      const { structuredContent } = await call('operation_list', { tool: 'many' });
      return structuredContent.operations.some((one: any) => one.token === token);
    };
    await eventually('it is listed', isListed, OUTAGE_MS);
  });
});

describe('once a worker runs', () => {
  beforeAll(async () => {
    project.parts.worker();
    await project.parts.ready();
  });

  const again = ['one', 'first nobody', 'second nobody'];
  test.each([
    ['failed', [...again, 'second nobody']],
    ['changed', [...again, 'first somebody', 'second somebody']],
    ['without its file', [...again, 'second nobody']],
    ['timed out', [...again, 'second nobody']],
    ['canceled', [...again, 'second nobody']],
  ])('the operation that resumes one continues where that stopped: %s', async (name, lines) => {
    const result = await project.finish(resumed[name]!, OUTAGE_MS);
    expect(result.isError ? textOf(result) : '').toBe('');
    expect(project.lines(name)).toEqual(lines);
  });

  test.each([
    ['large', 30],
    ['paged', 50],
  ])('only the item that failed runs again: %s', async (name, count) => {
    const result = await project.finish(resumed[name]!, OUTAGE_MS);
    expect(result.isError ? textOf(result) : '').toBe('');
    expect(result.structuredContent).toEqual({ lengths: Array.from({ length: count }, () => 4_000) });
    const numbers = project.lines(name).map(Number);
    expect(numbers.filter((number) => number === 3)).toHaveLength(2);
    expect(numbers).toHaveLength(count + 1);
  });

  test('one that Temporal ended is resumed too', async () => {
    const result = await project.resume(tokens['terminated']!);
    expect(result.isError ? textOf(result) : '').toBe('');
    await project.finish(result.structuredContent.token, OUTAGE_MS);
    expect(project.lines('terminated')).toEqual([...again, 'second nobody']);
  });

  test('large values are deleted with their operation', async () => {
    const token = tokens['damaged']!;
    await call('operation_delete', { token: tokens['partial'] });
    await call('operation_delete', { token });
    await eventually('nothing is stored', async () => {
      const keys = [...(await storedKeys(tokens['partial']!)), ...(await storedKeys(token))];
      return keys.length === 0;
    });
  });
});

/** The example of docs/writing-a-tool.md, "Long histories": one operation over several runs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { publishedState } from '../../operations/wire/state.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { runsOf } from '../support/runs-of.js';
import { TestToolEnvironment } from '../support/test-environment.js';
import { writeFiles } from '../support/write-files.js';

jest.setTimeout(PROCESSES_MS);
const [, EXAMPLE = ''] =
  /\n### Long histories\n[^]*?```ts\n([^]*?)```/.exec(readFileSync('docs/writing-a-tool.md', 'utf8')) ?? [];
const SUGGESTED = 'workflowInfo().continueAsNewSuggested';
/** So that runs are short. */
const SOON = 'workflowInfo().historyLength > 30';

const PROJECT = {
  'tools/import_orders.ts': `
import { defineTool } from 'longhaul';
export default defineTool({
  name: 'import_orders',
  description: { does: 'Imports all pages of a feed.' },
  input: { type: 'object', properties: { feed: { type: 'string' } }, required: ['feed'] },
  estimate: { seconds: 10 },
});
`,
  'workflows/import_orders.ts': EXAMPLE.replace(SUGGESTED, SOON),
  'activities/import_orders.ts': `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { log } from 'longhaul/activity';
/** The feed's page 13 comes once there is a file. */
export async function importPage(feed: string, page: number) {
  while (page === 13 && !existsSync(feed + '.go')) await new Promise((settle) => setTimeout(settle, 100));
  appendFileSync(feed, page + '\\n');
  log.info('imported', { page });
  return { imported: 10, isLast: page === 20 };
}
export async function dropImport(feed: string) {
  writeFileSync(feed + '.dropped', '');
}
`,
};

const folder = mkdtempSync(join(tmpdir(), 'longhaul-long-'));
let environment: TestToolEnvironment;
beforeAll(async () => {
  writeFiles(folder, { 'package.json': '{"type":"module"}', ...PROJECT });
  environment = await TestToolEnvironment.create({ project: folder, settings: { shippedTools: false } });
}, PROCESSES_MS);
afterAll(async () => {
  await environment?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the page has the example, with what Temporal suggests', () => {
  expect(EXAMPLE).toContain('export async function import_orders');
  expect(EXAMPLE).toContain(SUGGESTED);
});

test('continues as new with the arguments that it passes, and keeps the record of the operation', async () => {
  const feed = join(folder, 'orders');
  const operation = await environment.start('import_orders', { feed });
  const { token } = operation;
  await eventually('page 13 is waited for', () => existsSync(feed) && lines(feed).length === 12);
  expect((await operation.describe()).stage).toBe('import');
  // The step writes its line before the workflow gets to its memo.
  await eventually('the memo has page 12', async () => (await memoOf(token)).partial?.orders === 120);
  writeFileSync(`${feed}.go`, '');
  expect(await operation.result()).toEqual({ orders: 200 });
  expect(lines(feed)).toEqual(Array.from({ length: 20 }, (_, at) => String(at + 1)));
  expect((await runsOf(environment.client, token)).length).toBeGreaterThan(2);
  // The log is the operation's, and not a run's.
  expect((await operation.logs()).join('\n').match(/imported/g)).toHaveLength(20);
});

test('cleans up in a later run', async () => {
  const feed = join(folder, 'canceled');
  const operation = await environment.start('import_orders', { feed });
  await eventually('page 13 is waited for', () => existsSync(feed) && lines(feed).length === 12);
  await operation.cancel();
  expect((await operation.closed()).status).toBe('canceled');
  expect(existsSync(`${feed}.dropped`)).toBe(true);
});

const lines = (path: string) => readFileSync(path, 'utf8').trim().split('\n');

async function memoOf(token: string): Promise<any> {
  const { workflow } = environment.client;
  return publishedState((await workflow.getHandle(token).describe()).memo);
}

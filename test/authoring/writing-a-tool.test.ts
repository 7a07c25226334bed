/** Follows docs/writing-a-tool.md as a reader does. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publishedState } from '../../operations/wire/state.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { WireClient } from '../support/mcp.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { filesOnThePage, run } from './packed.js';
import { Reader } from './reader.js';

let reader: Reader;
let client: WireClient;

beforeAll(async () => {
  reader = await Reader.start();
  client = reader.client;
}, PROCESSES_MS);
afterAll(() => reader?.stop());

function logs(lines: number, count = 3): string {
  const folder = mkdtempSync(join(reader.root, 'logs-'));
  const text = Array.from({ length: lines }, (_, line) => `${line} GET /things/${line * 7919} 200\n`).join(
    '',
  );
  for (let index = 1; index <= count; index += 1) writeFileSync(join(folder, `${index}.log`), text);
  return folder;
}

describe('the tool of the page', () => {
  test('names three short files, and those of the second tool', () => {
    const files = filesOnThePage();
    expect(Object.keys(files)).toEqual([
      'tools/compress_folder.ts',
      'workflows/compress_folder.ts',
      'activities/compress_folder.ts',
      'tsconfig.json',
      'tools/import_orders.ts',
      'workflows/import_orders.ts',
      'activities/import_orders.ts',
      'test/compress_folder.test.ts',
    ]);
    for (const text of Object.values(files)) expect(text.split('\n').length).toBeLessThan(90);
  });

  test('compresses, keeps what is finished as the partial result, asks, and gives its result', async () => {
    const folder = logs(20_000);
    const taskId = await client.start('compress_folder', { folder });
    const asking = await client.until(taskId, 'input_required');
    expect(asking._meta['longhaul/progress']).toMatchObject({ stage: 'ask', progress: 3, total: 3 });
    const { params } = asking.inputRequests['input-1'];
    expect(params.message).toMatch(/^3 files are compressed, \d+ bytes saved\. Delete the originals\?$/);
    expect(await memoOf(taskId)).toMatchObject({ partial: { files: 3 } });
    expect(readdirSync(folder)).toHaveLength(6);

    await client.answer(taskId, 'input-1', { action: 'accept', content: { delete: true } });
    const done = await client.until(taskId, 'completed');
    expect(done.result.structuredContent).toMatchObject({ files: 3, originalsDeleted: true });
    expect(readdirSync(folder).sort()).toEqual(['1.log.gz', '2.log.gz', '3.log.gz']);
  });

  test('cleans up when it is cancelled in the middle of a file', async () => {
    const folder = logs(1_000_000, 1);
    const taskId = await client.start('compress_folder', { folder, level: 9 });
    await eventually('it is writing', () => readdirSync(folder).includes('1.log.part'));
    await client.request('tasks/cancel', { taskId });
    await client.until(taskId, 'cancelled');
    expect(readdirSync(folder)).toEqual(['1.log']);
  });

  test('fails at once, with its own words, for a folder that is not there', async () => {
    const taskId = await client.start('compress_folder', { folder: '/not/there' });
    const { result } = await client.until(taskId, 'completed');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain("/not/there can't be read");
  });

  test('is called, answered and listed from the command line as the page says', async () => {
    const folder = logs(1_000, 1);
    const token = await reader.longhaul('call', 'compress_folder', '--folder', folder, '--detach');
    await client.until(token, 'input_required');
    await reader.longhaul('answer', token, '--field', 'delete=false');
    await client.until(token, 'completed');
    expect(JSON.parse(await reader.longhaul('result', token))).toMatchObject({
      files: 1,
      originalsDeleted: false,
    });
    await eventually('it is listed', async () =>
      (await reader.longhaul('list', '--tool', 'compress_folder')).includes(token),
    );
  });

  test("passes the page's type check, with what npm puts beside the package", async () => {
    for (const name of ['@temporalio/workflow', '@temporalio/activity', '@types/node']) {
      reader.packed.link(name);
    }
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '--noEmit'], { cwd: reader.packed.folder }).catch(
      (error) => error,
    );
    expect(stdout).toBe('');
  });
});

/** The workflow's memo, as Temporal's UI shows it. */
async function memoOf(taskId: string): Promise<unknown> {
  const { Client } = await import('@temporalio/client');
  const connection = await connectToTemporal();
  try {
    const { memo } = await new Client({ connection }).workflow.getHandle(taskId).describe();
    return publishedState(memo);
  } finally {
    await connection.close();
  }
}

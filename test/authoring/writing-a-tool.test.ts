/** Follows docs/writing-a-tool.md as a reader does: its files, the packed package, real processes. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, freePort } from '../stack/cli-process.js';
import { WireClient } from '../support/mcp.js';

const run = promisify(execFile);
const CHECKOUT = resolve('.');
const PAGE = readFileSync('docs/writing-a-tool.md', 'utf8');

const root = mkdtempSync(join(tmpdir(), 'longhaul-reader-'));
const project = join(root, 'log-tools');
const main = join(project, 'node_modules/longhaul/dist/cli/main.js');
const processes: ChildProcess[] = [];
let environment: NodeJS.ProcessEnv;
let client: WireClient;

/** The page's code blocks that name a file: file -> text. */
function filesOnThePage(): Record<string, string> {
  const blocks = [...PAGE.matchAll(/```(?:ts|json)\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  return Object.fromEntries(blocks.map(([, path, text]) => [path!, text!]));
}

/**
 * Installs the packed package the way pnpm lays it out: beside it only what it depends on, and nothing of that within
 * the project's own reach. What works here works with npm, which hides less.
 */
async function install(): Promise<void> {
  const { dependencies, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
    version: string;
  };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', root]);
  const store = join(root, 'store/node_modules');
  mkdirSync(store, { recursive: true });
  await run('tar', ['xzf', join(root, `longhaul-${version}.tgz`), '-C', store]);
  await run('mv', [join(store, 'package'), join(store, 'longhaul')]);
  for (const name of Object.keys(dependencies)) link(join(CHECKOUT, 'node_modules', name), join(store, name));
  link(join(store, 'longhaul'), join(project, 'node_modules/longhaul'));
  link(join(CHECKOUT, 'node_modules/zod'), join(project, 'node_modules/zod'));
  chmodSync(main, 0o755);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Runs a command of the installed package in the project's folder, as the page does. */
async function longhaul(...args: string[]): Promise<string> {
  return (await run(process.execPath, [main, ...args], { cwd: project, env: environment })).stdout.trim();
}

beforeAll(async () => {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'log-tools', type: 'module' }));
  for (const [path, text] of Object.entries(filesOnThePage())) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  await install();
  const port = await freePort();
  environment = {
    ...process.env,
    NODE_OPTIONS: '',
    LONGHAUL_PORT: String(port),
    LONGHAUL_TASK_QUEUE: `test-${randomUUID()}`,
  };
  for (const command of ['server', 'worker']) {
    const child = spawn(process.execPath, [main, command], {
      cwd: project,
      env: environment,
      stdio: 'ignore',
    });
    processes.push(child);
  }
  client = new WireClient(`http://127.0.0.1:${port}/mcp`);
  await eventually('the server is ready', () => {
    if (processes.some(({ exitCode }) => exitCode !== null)) throw new Error('a part ended');
    return fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}, 120_000);

afterAll(async () => {
  for (const child of processes) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'close');
  }
  rmSync(root, { recursive: true, force: true });
});

/** A folder of logs, each of so many lines. */
function logs(lines: number, count = 3): string {
  const folder = mkdtempSync(join(root, 'logs-'));
  const text = Array.from({ length: lines }, (_, line) => `${line} GET /things/${line * 7919} 200\n`).join(
    '',
  );
  for (let index = 1; index <= count; index += 1) writeFileSync(join(folder, `${index}.log`), text);
  return folder;
}

describe('the tool of the page', () => {
  test('names three short files', () => {
    const files = filesOnThePage();
    expect(Object.keys(files)).toEqual([
      'tools/compress_folder.ts',
      'workflows/compress_folder.ts',
      'activities/compress_folder.ts',
      'tsconfig.json',
    ]);
    for (const text of Object.values(files)) expect(text.split('\n').length).toBeLessThan(60);
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

  test('leaves the originals alone when somebody declines', async () => {
    const folder = logs(1_000);
    const taskId = await client.start('compress_folder', { folder });
    await client.until(taskId, 'input_required');
    await client.answer(taskId, 'input-1', { action: 'decline' });
    const { result } = await client.until(taskId, 'completed');
    expect(result.structuredContent.originalsDeleted).toBe(false);
    expect(readdirSync(folder)).toHaveLength(6);
  });

  test('cleans up when it is cancelled while it asks', async () => {
    const folder = logs(1_000);
    const taskId = await client.start('compress_folder', { folder });
    await client.until(taskId, 'input_required');
    await client.request('tasks/cancel', { taskId });
    await client.until(taskId, 'cancelled');
    expect(readdirSync(folder).sort()).toEqual(['1.log', '2.log', '3.log']);
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
    const token = await longhaul('call', 'compress_folder', '--folder', folder, '--detach');
    await client.until(token, 'input_required');
    await longhaul('answer', token, '--field', 'delete=false');
    await client.until(token, 'completed');
    expect(JSON.parse(await longhaul('result', token))).toMatchObject({ files: 1, originalsDeleted: false });
    await eventually('it is listed', async () =>
      (await longhaul('list', '--tool', 'compress_folder')).includes(token),
    );
  });

  test("passes the page's type check, with what npm puts beside the package", async () => {
    for (const name of ['@temporalio/workflow', '@temporalio/activity', '@types/node']) {
      link(join(CHECKOUT, 'node_modules', name), join(project, 'node_modules', name));
    }
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '--noEmit'], { cwd: project }).catch(
      (error) => error,
    );
    expect(stdout).toBe('');
  });
});

/** What the workflow keeps in its memo, as Temporal's UI shows it. */
async function memoOf(taskId: string): Promise<unknown> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS']! });
  try {
    const { memo } = await new Client({ connection }).workflow.getHandle(taskId).describe();
    return memo?.['operation'];
  } finally {
    await connection.close();
  }
}

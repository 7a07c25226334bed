/** The process that reads a caller's file: crashes, limits and its end. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { analyzeInChild } from '../../activities/analyze_dataset/analyze-in-child.js';
import type { AnalysisRequest } from '../../activities/analyze_dataset/analysis-process.js';
import { builtProgram } from '../../platform/home/program.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { eventually, isRunning } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

const LEVELS = 500_000;
const LIMITS = { memoryMb: 1280, diskMb: 1024 };

let box: Sandbox;
let long: string;
let scratch: string;
beforeAll(async () => {
  box = await sandbox();
  scratch = path.join(box.root, 'scratch');
  await mkdir(scratch);
  await box.file('plain.csv', 'a,b\n1,x\n2,y\n');
  await box.file('deep.json', '['.repeat(LEVELS) + ']'.repeat(LEVELS));
  long = path.join(box.data, 'long.parquet');
  await plainSql(`COPY (SELECT range AS i, random() AS x FROM range(3000000)) TO '${long}'`);
});
afterAll(() => box.remove());

const inspection = (file: string) => ({
  name: 'inspect' as const,
  args: [file] as [string],
  options: { dataFolders: box.options.dataFolders, tempFolder: scratch },
});
const longQuery = () => {
  const aggregates = [
    { fn: 'median' as const, column: 'x' },
    { fn: 'count_distinct' as const, column: 'x' },
  ];
  const query: DatasetQuery = { path: long, group_by: ['i'], aggregates, limit: 10 };
  const { options } = inspection(long);
  return { name: 'runQuery' as const, args: [query] as [DatasetQuery], options };
};
const inChild = (more: object = {}) => ({
  signal: new AbortController().signal,
  onProgress: () => undefined,
  limits: LIMITS,
  ...more,
});

/** PIDs of processes that read a file for another one. */
function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-Ao', 'ppid=,pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes('analyze-dataset.js'))
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([ppid, pid]) => (ppid === parent ? [pid!] : []));
}

describe('the process that reads a file', () => {
  it('answers as the function does, and is gone then', async () => {
    const answer = await analyzeInChild(inspection('plain.csv'), inChild());
    expect(answer).toMatchObject({ format: 'csv', rowCount: 2 });
    expect(childrenOf(process.pid)).toEqual([]);
  });

  it.each([
    ['passes on a refusal', 'missing.csv', 'not_found', /missing\.csv/],
    ['crashes', 'deep.json', 'unreadable', /DuckDB can read; deep\.json crashes it \(SIG(SEGV|BUS)\)$/],
  ])('%s with a code', async (_, file, code, message) => {
    const refused = await refusal(analyzeInChild(inspection(file), inChild()));
    expect(refused).toEqual({ code, message: expect.stringMatching(message) });
  });

  it.each([
    ['memory', 'plain.csv', { memoryMb: 1 }, 'out_of_memory'],
    ['temporary disk', 'wide.csv', { diskMb: 1 }, 'out_of_disk'],
  ])('ends over its limit of %s, copies of files included', async (what, file, limit, code) => {
    const rows = Array.from({ length: 1_000_000 }, (_, row) => `${row},${row % 7}`).join('\n');
    await box.file('wide.csv', Buffer.from(`\ufeffa,b\n${rows}\n`, 'utf16le'));
    const limits = { ...LIMITS, ...limit };
    const refused = await refusal(analyzeInChild(inspection(file), inChild({ limits })));
    expect(refused.code).toBe(code);
    expect(refused.message).toContain(`${file} needs more than 1 MiB of ${what}`);
  });

  it('is killed when the signal fires, and the call rejects with its reason', async () => {
    const abort = new AbortController();
    const reason = new Error('the operation was cancelled');
    const onProgress = () => abort.abort(reason);
    await expect(analyzeInChild(longQuery(), inChild({ signal: abort.signal, onProgress }))).rejects.toBe(
      reason,
    );
    expect(childrenOf(process.pid)).toEqual([]);
  });

  it('does not start under a signal that is aborted already', async () => {
    const signal = AbortSignal.abort('no');
    await expect(analyzeInChild(inspection('plain.csv'), inChild({ signal }))).rejects.toBe('no');
  });

  it('may be tried again when it was killed from outside', async () => {
    const onProgress = () => childrenOf(process.pid).forEach((pid) => process.kill(pid, 'SIGKILL'));
    const failure = await analyzeInChild(longQuery(), inChild({ onProgress })).catch((e: unknown) => e);
    expect(failure).toMatchObject({
      name: 'Error',
      message: `the process that read ${long} was ended (SIGKILL)`,
    });
  });

  it('outlives a Ctrl-C, as the activities of a worker do', async () => {
    let interrupts = 0;
    const onProgress = () => {
      if (interrupts++ === 0) for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGINT');
    };
    const answer = await analyzeInChild(longQuery(), inChild({ onProgress }));
    expect(interrupts).toBeGreaterThan(0);
    expect(answer.rowCount).toBe(3_000_000);
  });

  it('ends with its worker, in the middle of a query, and leaves no files', async () => {
    const { options, ...call } = longQuery();
    const tempFolder = path.join(box.root, 'orphaned');
    await mkdir(tempFolder);
    const request: AnalysisRequest = {
      ...call,
      options: { ...options, tempFolder },
      path: long,
      limits: LIMITS,
    };
    const program = `
      const child = require('node:child_process').fork(${JSON.stringify(builtProgram('analyze-dataset'))});
      child.on('message', () => console.log(child.pid));
      child.send(${JSON.stringify(request)});`;
    const worker = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(worker.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString().split('\n')[0]);
    expect(isRunning(pid)).toBe(true);
    worker.kill('SIGKILL');
    await eventually('the process has ended', () => !isRunning(pid));
    expect(existsSync(tempFolder)).toBe(false);
  });
});

describe('a worker', () => {
  let stack: TestStack;
  let home: string;
  // Own stack: its worker reads this test's files, in a home of its own.
  beforeAll(async () => {
    home = path.join(box.root, 'home');
    stack = await TestStack.start({ LONGHAUL_HOME: home, LONGHAUL_DATA_FOLDERS: box.data });
  }, PROCESSES_MS);
  afterAll(() => stack?.stop());

  it('fails the operation of a file that crashes DuckDB, at its first attempt, and no other', async () => {
    const held = await stack.client.start('hold', { folder: box.root });
    await eventually('the activity runs', () => existsSync(path.join(box.root, 'held')));
    const crashed = await stack.client.start('analyze_dataset', { path: 'deep.json' });
    const { result } = await stack.client.until(crashed, 'completed');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('deep.json crashes it') }],
      _meta: { 'longhaul/error': { kind: 'failed', retryable: false } },
    });
    const { events } = await (await stack.temporal()).workflow.getHandle(crashed).fetchHistory();
    const attempts = events!.flatMap(({ activityTaskStartedEventAttributes: started }) =>
      started ? [started.attempt] : [],
    );
    expect(attempts).toEqual([1]);
    const failures = events!.flatMap(({ activityTaskFailedEventAttributes: failed }) =>
      failed ? [failed.failure?.applicationFailureInfo?.type] : [],
    );
    expect(failures).toEqual(['dataset_unreadable']);

    await writeFile(path.join(box.root, 'release'), '');
    const { inputRequests } = await stack.client.until(held, 'input_required');
    const [key] = Object.keys(inputRequests);
    await stack.client.answer(held, key!, { action: 'accept', content: { proceed: true } });
    const ended = await stack.client.until(held, 'completed');
    const worker = stack.parts.at(-1)!.process.pid;
    expect(ended.result.structuredContent.held).toEqual({ pid: worker, attempt: 1 });
  });

  it('ends a query that DuckDB never would, when its operation is cancelled', async () => {
    // Reading takes twice as long for each list in a list.
    const lists = `${'['.repeat(40)}1${']'.repeat(40)}`;
    await plainSql(`COPY (SELECT ${lists} AS a) TO '${path.join(box.data, 'lists.parquet')}'`);
    const called = await stack.client.start('analyze_dataset', { path: 'lists.parquet' });
    await stack.client.until(called, (task) => task._meta?.['longhaul/progress']?.stage === 'query');
    const worker = stack.parts.at(-1)!.process.pid!;
    await eventually('the query runs', () => childrenOf(worker).length > 0);
    await stack.client.request('tasks/cancel', { taskId: called });
    await stack.client.until(called, 'cancelled');
    await eventually('its process has ended', () => childrenOf(worker).length === 0);
  });

  it('removes the temporary files of a call', async () => {
    const called = await stack.client.start('analyze_dataset', { path: 'plain.csv' });
    const { result } = await stack.client.until(called, 'completed');
    expect(result.structuredContent).toMatchObject({ row_count: 2, artifact: { row_count: 2 } });
    expect(await readdir(path.join(home, 'tmp'))).toEqual([]);
  });
});

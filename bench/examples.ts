/**
 * examples/screen-molecules over 250,000 molecules: memory of the worker, events of the run with its child workflows, and time beside
 * the same code in one process without Temporal, whose counts, hits and table must be the same.
 *
 *     node --import jiti/register bench/examples.ts [--short]
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { installExample, removeExample } from '../test/examples/support.js';
import {
  cpuMs,
  databaseMb,
  peakMb,
  report,
  residentMb,
  shortened,
  withStack,
  type Stack,
} from './support.js';

const MOLECULES = shortened(250_000);
const QUERY = 'NC(=O)c1ccc(N2CCOCC2)cc1';
const LIBRARY = 'output/library.smi';
const LIMIT_MS = 3 * 3600_000;
const PARTS = ['worker', 'server', 'temporal'] as const;
const MOST_MB = 600;
const MOST_EVENTS = 5_000;

interface Found {
  molecules: number;
  hits: number;
  passedAll: number;
  best: object[];
  sha256: string;
}

const run = promisify(execFile);
const { NODE_OPTIONS: _, ...environment } = process.env;
const node = async (folder: string, ...args: string[]) =>
  (await run(process.execPath, args, { cwd: folder, env: environment, maxBuffer: 2 ** 24 })).stdout;
const secondsSince = (begin: number) => (performance.now() - begin) / 1000;

/** The tool's run, and its figures. */
async function screen({ client, home, temporalAddress }: Stack) {
  const { worker } = home.parts();
  const cpuOf = () => PARTS.map((part) => cpuMs(home.parts()[part]) / 1000);
  const before = { mb: residentMb(worker), cpu: cpuOf() };
  const begin = performance.now();
  const token = await client.start('screen_molecules', { path: LIBRARY, query: QUERY });
  const { result } = (await client.until(token, 'completed', LIMIT_MS)) as {
    result: {
      structuredContent: Omit<Found, 'sha256' | 'passedAll'> & {
        table: { sha256: string; bytes: number };
        passed: { all: number };
        chunks: { total: number };
      };
    };
  };
  const seconds = secondsSince(begin);
  const { table, passed, chunks, molecules, hits, best } = result.structuredContent;
  const found: Found = { molecules, hits, best, passedAll: passed.all, sha256: table.sha256 };
  return {
    found,
    seconds,
    chunks: chunks.total,
    tableMb: table.bytes / 1e6,
    workerIdleMb: before.mb,
    workerMb: residentMb(worker),
    workerPeakMb: peakMb(worker),
    cpuSeconds: cpuOf().map((cpu, index) => cpu - before.cpu[index]!),
    workflows: await workflowsOf(temporalAddress, token),
    databaseMb: databaseMb({ home }),
  };
}

/** The run's workflow and its child workflows, each with its events and the bytes of its history. */
async function workflowsOf(address: string, token: string) {
  const connection = await Connection.connect({ address });
  try {
    const workflows = [];
    const query = `RootWorkflowId = '${token}'`;
    for await (const one of new Client({ connection }).workflow.list({ query }))
      workflows.push({ type: one.type, events: one.historyLength, bytes: one.historySize ?? 0 });
    if (workflows.length === 0) throw new Error(`no workflows of ${token} are listed`);
    return workflows;
  } finally {
    await connection.close();
  }
}

/** Counts, hits with the results of the models, and table: equal in both runs. */
const comparable = ({ molecules, hits, passedAll, best, sha256 }: Found) => ({
  molecules,
  hits,
  passedAll,
  best,
  sha256,
});

const folder = await installExample('screen-molecules');
try {
  await node(folder, 'lib/enumerate.js', LIBRARY, String(MOLECULES));
  await withStack(
    async (stack) => {
      const tool = await screen(stack);
      const begin = performance.now();
      const alone = JSON.parse(await node(folder, 'lib/alone.js', join(folder, LIBRARY), QUERY)) as Found & {
        cpuSeconds: number;
      };
      const aloneSeconds = secondsSince(begin);
      const events = tool.workflows.reduce((sum, one) => sum + one.events, 0);
      const historyMb = tool.workflows.reduce((sum, one) => sum + one.bytes, 0) / 1e6;
      const isEqual = isDeepStrictEqual(comparable(tool.found), comparable(alone));
      report(
        'examples',
        ['screen_molecules', '', 'bound'],
        [
          ['molecules', tool.found.molecules.toLocaleString('en'), ''],
          ['chunks', String(tool.chunks), ''],
          ['table', `${tool.tableMb.toFixed(1)} MB`, ''],
          ['result beside one process', isEqual ? 'equal' : 'NOT equal', 'equal'],
          ['worker, before', `${Math.round(tool.workerIdleMb)} MB`, ''],
          ['worker, peak', `${Math.round(tool.workerPeakMb)} MB`, `under ${MOST_MB} MB`],
          ['worker, after', `${Math.round(tool.workerMb)} MB`, ''],
          ['workflows', tool.workflows.map(({ type }) => type).join(', '), ''],
          ['events', events.toLocaleString('en'), `under ${MOST_EVENTS.toLocaleString('en')}`],
          ['history', `${historyMb.toFixed(1)} MB`, ''],
          ['time', `${Math.round(tool.seconds)} s`, ''],
          ['time of one process, one thread', `${Math.round(aloneSeconds)} s`, ''],
          ['CPU', tool.cpuSeconds.map((cpu, index) => `${PARTS[index]} ${Math.round(cpu)} s`).join(', '), ''],
          ['CPU of one process', `${Math.round(alone.cpuSeconds)} s`, ''],
          ['ratio of the times', (tool.seconds / aloneSeconds).toFixed(2), ''],
        ],
        { ...tool, aloneSeconds, aloneCpuSeconds: alone.cpuSeconds, events, historyMb, isEqual },
      );
      if (!isEqual) throw new Error(`expected ${JSON.stringify(alone)}; got ${JSON.stringify(tool.found)}`);
      if (tool.workerPeakMb >= MOST_MB || events >= MOST_EVENTS) throw new Error('over a bound');
    },
    { LONGHAUL_PROJECT: folder },
  );
} finally {
  removeExample(folder);
}

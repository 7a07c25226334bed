/**
 * Where the embedded Temporal spends its CPU: the bare worker completes a workflow with one activity, 32 at once, while Go's
 * profiler samples Temporal, which is built once more for that, with the profiler's endpoint. Needs Go.
 *
 *     node --import jiti/register bench/temporal-profile.ts [--short]
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { freePort } from '../test/stack/cli-process.js';
import { TEMPORAL_CLI_VERSION } from '../stack/temporal/binary.js';
import { bareTemporal, withBareWorker } from './bare/side.js';
import { cpuMs, IS_SHORT, report, timeRuns, withStack } from './support.js';

const PROFILE_SECONDS = IS_SHORT ? 2 : 20;
const AT_ONCE = 32;

/** Groups of functions. A sample belongs to the group of the innermost function that is in one. */
const GROUPS: [string, RegExp][] = [
  ['garbage collection', /^runtime\.(gcBgMarkWorker|gcAssistAlloc|bgsweep|bgscavenge|gcStart)/],
  ['database: SQLite', /^modernc\.org\/|^database\/sql|persistence\/sql/],
  ['database: encoding of what is stored', /common\/persistence/],
  ['gRPC between its services, and with clients', /^google\.golang\.org\/grpc|^golang\.org\/x\/net\/http2/],
  [
    'interceptors of requests: limits, metrics, authorization',
    /server\/common\/(rpc|metrics|authorization|quotas)/,
  ],
  ['history service: mutable state, queues, timers', /server\/service\/history|server\/common\/tasks/],
  ['matching service', /server\/service\/matching/],
  ['frontend service', /server\/service\/frontend/],
  ["Go's scheduler", /^runtime\.(mcall|schedule|findRunnable|park_m|mstart|sysmon)/],
];

/** Builds Temporal's CLI with the profiler's endpoint, from the modules that the build of the CLI itself needs. */
function buildWithProfiler(binary: string, folder: string): void {
  const go = (...args: string[]) => execFileSync('go', args, { cwd: folder, encoding: 'utf8' });
  const module = `github.com/temporalio/cli@v${TEMPORAL_CLI_VERSION}`;
  copyFileSync('bench/temporal-profile/main.go', join(folder, 'main.go'));
  writeFileSync(join(folder, 'go.mod'), 'module profile\n');
  const { Dir } = JSON.parse(go('mod', 'download', '-json', module)) as { Dir: string };
  // The same versions of everything: `go install` takes them from the CLI's own go.mod.
  for (const name of ['go.mod', 'go.sum']) writeFileSync(join(folder, name), readFileSync(join(Dir, name)));
  go('mod', 'edit', '-module=profile', `-require=${module}`);
  go('build', '-mod=mod', '-o', binary, '.');
}

/** CPU time of the groups, in milliseconds, from the output of `go tool pprof -traces -unit=ms`. */
function groupTraces(traces: string): Map<string, number> {
  const groups = new Map<string, number>();
  for (const trace of traces.split(/^-+\+-+$/m).slice(1)) {
    const [, ms] = /^\s*(\d+)ms\s/m.exec(trace) ?? [];
    if (ms === undefined) continue;
    const frames = trace.split('\n').map((line) => line.replace(/^\s*(\d+ms\s+)?/, ''));
    const groupsOfFrames = frames.map((frame) => GROUPS.find(([, pattern]) => pattern.test(frame))?.[0]);
    const group = groupsOfFrames.find((name) => name !== undefined) ?? 'other';
    groups.set(group, (groups.get(group) ?? 0) + Number(ms));
  }
  return groups;
}

const folder = mkdtempSync(join(tmpdir(), 'longhaul-profile-'));
try {
  buildWithProfiler(join(folder, `temporal-${TEMPORAL_CLI_VERSION}`), folder);
  const profiler = `127.0.0.1:${await freePort()}`;
  await withStack(
    async (stack) => {
      await withBareWorker(stack, async (worker, taskQueue) => {
        const { temporal } = stack.home.parts();
        const connection = await NativeConnection.connect({ address: stack.temporalAddress });
        const side = bareTemporal(new Client({ connection }), taskQueue, { worker, temporal });
        const complete = (count: number) => timeRuns(count, AT_ONCE, () => side.run('noop_activity'));
        await complete(200);
        let isOver = false;
        let operations = 0;
        const cpuBeforeMs = cpuMs(temporal);
        const profile = fetch(`http://${profiler}/debug/pprof/profile?seconds=${PROFILE_SECONDS}`).then(
          async (response) => {
            if (!response.ok) throw new Error(`the profiler answered ${response.status}`);
            return Buffer.from(await response.arrayBuffer());
          },
        );
        void profile.finally(() => (isOver = true)).catch(() => undefined);
        while (!isOver) {
          await complete(AT_ONCE);
          operations += AT_ONCE;
        }
        const cpuPerOperationMs = (cpuMs(temporal) - cpuBeforeMs) / operations;
        const file = join(folder, 'profile.pb.gz');
        writeFileSync(file, await profile);
        const traces = execFileSync('go', ['tool', 'pprof', '-traces', '-unit=ms', file], {
          encoding: 'utf8',
          maxBuffer: 1024 ** 3,
        });
        const groups = [...groupTraces(traces)].sort(([, one], [, other]) => other - one);
        const totalMs = groups.reduce((sum, [, ms]) => sum + ms, 0);
        report(
          'temporal-profile',
          ["Temporal's CPU", 'share', 'ms an operation'],
          groups.map(([name, ms]) => [
            name,
            `${Math.round((ms / totalMs) * 100)} %`,
            ((ms / totalMs) * cpuPerOperationMs).toFixed(1),
          ]),
          { operations, cpuPerOperationMs, groups: Object.fromEntries(groups) },
        );
        if (process.env['KEEP_TRACES']) writeFileSync(process.env['KEEP_TRACES'], traces);
        await connection.close();
      });
    },
    { LONGHAUL_BIN_FOLDER: folder, PPROF_ADDRESS: profiler },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { cpuMs } from '../../../bench/support.js';
import { eventually, TestHome } from '../../stack/cli-process.js';
import { INSTALL_MS } from '../../support/limits.js';
import { WireClient } from '../../support/mcp.js';
import { Clock } from './clock.js';

jest.setTimeout(INSTALL_MS);

let folder: string;
let clock: Clock;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-clock-'));
  clock = await Clock.create(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a process sees its date jump ahead, back and home again, while its timers and the others' clocks stay real", async () => {
  // The tenth line comes after a second, by timers.
  const script = 'setInterval(() => console.log(JSON.stringify([Date.now(), performance.now()])), 100)';
  const child = spawn(process.execPath, ['-e', script], {
    env: { ...process.env, ...clock.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: { aheadSeconds: number; monotonicMs: number; atMs: number }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [date, monotonicMs] = JSON.parse(line) as [number, number];
    lines.push({
      aheadSeconds: Math.round((date - Date.now()) / 1000),
      monotonicMs,
      atMs: performance.now(),
    });
  });
  try {
    for (const seconds of [0, 3600, -7200, 90, 0]) {
      clock.jump(seconds);
      await eventually(`it is ${seconds} s ahead`, () => lines.at(-1)?.aheadSeconds === seconds);
    }
    const [first, last] = [lines[0]!, lines.at(-1)!];
    const monotonicMs = last.monotonicMs - first.monotonicMs;
    expect(Math.abs(monotonicMs - (last.atMs - first.atMs))).toBeLessThan(1_000);
  } finally {
    child.kill('SIGKILL');
  }
});

/** How long the stack runs under jumping clocks. By hand for longer. */
const RUN_SECONDS = Number(process.env['LONGHAUL_CLOCK_SECONDS'] ?? 30);

test('server and worker work on under jumping clocks, and use no more CPU than with real ones', async () => {
  const home = await TestHome.create();
  try {
    const cpuShare = async (environment: Record<string, string>) => {
      const run = await home.up({ LONGHAUL_PROJECT: resolve('test/chaos/project'), ...environment });
      const client = new WireClient(`${home.url}/mcp`);
      const { server, worker } = home.parts();
      const cpu = () => cpuMs(server) + cpuMs(worker);
      const args = { ledger: join(folder, 'ledger'), name: 'one', batches: 2, secondsEach: 1 };
      const operation = async () => client.until(await client.start('batches', args), 'completed');
      await operation();
      const before = cpu();
      const from = performance.now();
      for (let round = 0; performance.now() - from < RUN_SECONDS * 1000; round += 1) {
        if (environment['LD_PRELOAD']) clock.jump([3600, -3600, 0][round % 3]!);
        await delay(1_200);
        await operation();
      }
      const share = (cpu() - before) / (performance.now() - from);
      expect(home.parts()).toMatchObject({ server, worker });
      run.process.kill('SIGTERM');
      expect(await run.ended).toBe(0);
      return share;
    };
    const real = await cpuShare({});
    const jumping = await cpuShare(clock.environment);
    console.log(
      `CPU of server and worker: ${real.toFixed(3)} cores with real clocks, ${jumping.toFixed(3)} with jumping ones`,
    );
    expect(jumping).toBeLessThan(real * 2 + 0.1);
  } finally {
    await home.remove();
  }
});

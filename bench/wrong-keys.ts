/**
 * Latency of a caller with a valid key, alone and beside 1,000 requests a second with wrong keys from the same address, in alternating
 * blocks. Fails over a ratio of 3.
 *
 *     node --import jiti/register bench/wrong-keys.ts [--short]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { addApiKey } from '../mcp-server/auth/key-store.js';
import type { WireClient } from '../test/support/mcp.js';
import { cpuMs, quantile, report, shortened, timeRuns, withStack } from './support.js';

const ROUNDS = 4;
const CALLS = shortened(1_000);
const WRONG_PER_SECOND = 1_000;
const BOUND = 3;

interface Side {
  tookMs: number[];
  /** Share of a core that the server used. */
  cpu: number[];
}

interface Flood {
  perSecond: number;
  statuses: Record<string, number>;
}

/** Runs work while another process sends wrong keys. @returns what became of these */
async function flooded(url: string, work: () => Promise<void>): Promise<Flood> {
  const program = ['--import', 'jiti/register', 'bench/wrong-keys/flood.ts', url, String(WRONG_PER_SECOND)];
  const flood = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(flood.stdout, 'readable');
  try {
    await work();
  } finally {
    flood.stdin.end();
  }
  return JSON.parse((await text(flood.stdout)).split('\n')[1]!) as Flood;
}

async function measure(client: WireClient, taskId: string, pid: number, side: Side): Promise<void> {
  const before = cpuMs(pid);
  const { tookMs, totalMs } = await timeRuns(CALLS, 1, () => client.get(taskId));
  side.tookMs.push(...tookMs);
  side.cpu.push((cpuMs(pid) - before) / totalMs);
}

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-keys-'));
const [key] = addApiKey(folder, { tenant: 'bench', subject: 'alice' });
try {
  await withStack(
    async ({ client: anybody, serverPid }) => {
      const client = anybody.as(key);
      const taskId = await client.start('sleeper');
      const [alone, beside]: [Side, Side] = [
        { tookMs: [], cpu: [] },
        { tookMs: [], cpu: [] },
      ];
      const floods: Flood[] = [];
      await timeRuns(CALLS, 1, () => client.get(taskId));
      for (let round = 0; round < ROUNDS; round += 1) {
        await measure(client, taskId, serverPid, alone);
        floods.push(await flooded(client.url, () => measure(client, taskId, serverPid, beside)));
      }
      await client.request('tasks/cancel', { taskId });
      const p50 = (side: Side) => quantile(side.tookMs, 0.5);
      const ratio = p50(beside) / p50(alone);
      const row = (what: string, side: Side) => [
        what,
        ...[0.5, 0.99].map((share) => `${quantile(side.tookMs, share).toFixed(1)} ms`),
        quantile(side.cpu, 0.5).toFixed(2),
      ];
      const perSecond = quantile(
        floods.map((flood) => flood.perSecond),
        0.5,
      );
      if (ratio > BOUND) process.exitCode = 1;
      report(
        'wrong-keys',
        ['tasks/get with a valid key, one at a time', 'p50', 'p99', "server's share of a core"],
        [
          row('alone', alone),
          row(`beside ${perSecond.toFixed(0)} wrong keys a second`, beside),
          ['ratio', `${ratio.toFixed(2)}, ${ratio > BOUND ? 'OVER' : 'under'} ${BOUND}`, '', ''],
        ],
        { ratio, floods, alone: p50(alone), beside: p50(beside) },
      );
    },
    {
      LONGHAUL_AUTHENTICATION: 'keys',
      LONGHAUL_KEYS_FOLDER: folder,
      LONGHAUL_STATUS_PER_MINUTE: '1000000',
    },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

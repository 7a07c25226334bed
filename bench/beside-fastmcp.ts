/**
 * Longhaul beside FastMCP with fastmcp-tasks on Redis: the same client and calls, tasks of 2026-07-28 over HTTP, against both
 * servers in one run. Redis writes to disk once a second, and in a second server before each answer.
 *
 *     node --import jiti/register bench/beside-fastmcp.ts [--short]
 */
import { readFileSync } from 'node:fs';
import { startPeer, type Peer } from './beside-fastmcp/peer.js';
import { Comparison, longhaulSide, reading, running, starting } from './sides.js';
import { residentMb, withStack } from './support.js';

const AT_ONCE = 32;
const ONE_BY_ONE = 120;
const STARTS = 512;
const READS = 1_000;
const RUNS = 300;

await withStack(async (stack) => {
  const peers: Peer[] = [];
  try {
    peers.push(await startPeer('everysec'), await startPeer('always'));
    const sides = [longhaulSide(stack), ...peers.map(({ side }) => side)];
    const comparison = new Comparison(sides);
    await comparison.warmUp('noop_activity', 'noop_activity');
    await comparison.measure(
      'tools/call to the handle, one at a time',
      ONE_BY_ONE,
      1,
      starting('noop_activity'),
    );
    await comparison.measure(
      `tools/call to the handle, ${AT_ONCE} at once`,
      STARTS,
      AT_ONCE,
      starting('noop_activity'),
    );
    await comparison.measure('tasks/get, one at a time', ONE_BY_ONE * 2, 1, reading('noop_activity'));
    await comparison.measure(`tasks/get, ${AT_ONCE} at once`, READS, AT_ONCE, reading('noop_activity'));
    await comparison.measure(
      'no-op to completion, one at a time',
      ONE_BY_ONE / 2,
      1,
      running('noop_activity'),
    );
    await comparison.measure(
      `no-op to completion, ${AT_ONCE} at once`,
      RUNS,
      AT_ONCE,
      running('noop_activity'),
    );
    await comparison.measure(
      `500 ms tool to completion, ${AT_ONCE} at once`,
      RUNS,
      AT_ONCE,
      running('half_second'),
    );
    const memoryMb = Object.fromEntries(
      sides.map(({ name, pids }) => [
        name,
        Object.fromEntries(
          Object.entries(pids).map(([process, pid]) => [process, Math.round(residentMb(pid))]),
        ),
      ]),
    );
    const pinned = readFileSync('bench/beside-fastmcp/requirements.txt', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('fastmcp'));
    const versions = { ...peers[0]!.versions, packages: pinned };
    comparison.report('beside-fastmcp', { memoryMb, versions });
    console.log(`Resident afterwards, MB: ${JSON.stringify(memoryMb)}`);
  } finally {
    for (const peer of peers) await peer.stop();
  }
});

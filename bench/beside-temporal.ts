/**
 * Longhaul beside bare Temporal: the same workflow, started, read and run to its end through the server's HTTP endpoint and
 * Longhaul's worker, and by Temporal's own client and a worker with its SDK alone, on one Temporal and in one run.
 *
 *     node --import jiti/register bench/beside-temporal.ts [--short]
 */
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { bareTemporal, withBareWorker } from './bare/side.js';
import { Comparison, longhaulSide, reading, running, starting } from './sides.js';
import { residentMb, withStack } from './support.js';

const AT_ONCE = 32;
const ONE_BY_ONE = 100;
const STARTS = 256;
const READS = 1_000;
const RUNS = 192;

await withStack(async (stack) => {
  await withBareWorker(stack, async (bareWorkerPid, bareQueue) => {
    const connection = await NativeConnection.connect({ address: stack.temporalAddress });
    const ours = longhaulSide(stack);
    const bare = bareTemporal(new Client({ connection }), bareQueue, {
      worker: bareWorkerPid,
      temporal: ours.pids['temporal']!,
    });
    const comparison = new Comparison([ours, bare]);
    await comparison.warmUp('noop_activity', 'sleeper');
    await comparison.measure('admission, one at a time', ONE_BY_ONE, 1, starting('noop'));
    await comparison.measure(`admission, ${AT_ONCE} at once`, STARTS, AT_ONCE, starting('noop'));
    await comparison.measure('read of running work, one at a time', ONE_BY_ONE * 2, 1, reading('sleeper'));
    await comparison.measure(`read of running work, ${AT_ONCE} at once`, READS, AT_ONCE, reading('sleeper'));
    await comparison.measure('read of closed work, one at a time', ONE_BY_ONE * 2, 1, reading('noop'));
    await comparison.measure(`read of closed work, ${AT_ONCE} at once`, READS, AT_ONCE, reading('noop'));
    await comparison.measure('completion of noop, at once', RUNS, AT_ONCE, running('noop'));
    await comparison.measure(
      'completion of noop_activity, one at a time',
      ONE_BY_ONE / 2,
      1,
      running('noop_activity'),
    );
    await comparison.measure(
      'completion of noop_activity, at once',
      RUNS * 2,
      AT_ONCE,
      running('noop_activity'),
    );
    const memory = {
      ours: Math.round(residentMb(ours.pids['worker']!)),
      bare: Math.round(residentMb(bareWorkerPid)),
      server: Math.round(residentMb(ours.pids['server']!)),
    };
    comparison.report('beside-temporal', { memoryMb: memory });
    console.log(
      `Resident afterwards: Longhaul's worker ${memory.ours} MB, the bare worker ${memory.bare} MB, the server ${memory.server} MB`,
    );
    await connection.close();
  });
});

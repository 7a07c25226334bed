/** Starts one Temporal for the whole run, by the same built code that users get, unless test/temporal-postgres runs one. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings } from '../dist/platform/config.js';
import { keepRunning } from '../dist/stack/keep-running.js';
import { startEmbeddedTemporal } from '../dist/stack/temporal-server.js';

export default async function setUp() {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  if (!process.env.LONGHAUL_TEST_OPERATOR_ADDRESS) {
    const settings = await loadSettings({ home, logLevel: 'warn' });
    const say = (line) => console.log(line);
    const temporal = await startEmbeddedTemporal(settings, say);
    const again = () => startEmbeddedTemporal(settings, say, temporal.ports);
    // As under `longhaul up`, it is started again when it ends.
    globalThis.longhaulTestTemporal = keepRunning('Temporal', again, say, temporal);
    process.env.TEMPORAL_ADDRESS = temporal.address;
  }
  // The interval of the embedded Temporal, though the tests' processes are given an address.
  process.env.LONGHAUL_HEARTBEAT_SECONDS = '1';
  process.env.LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS = '2';
  process.env.LONGHAUL_VISIBILITY_CALLS_PER_SECOND = '1000';
  // Tests end workers in the middle of activities. test/shutdown sets a longer time.
  process.env.LONGHAUL_DRAIN_TIMEOUT = '5s';
  // Hundreds of task queues: Temporal bounds the deployments of a namespace. test/versioning turns it on.
  process.env.LONGHAUL_WORKER_VERSIONING = 'false';
  // One home for all servers and workers of the run: its secret, its storage, its bundle of the fixtures' workflows.
  process.env.LONGHAUL_HOME = home;
}

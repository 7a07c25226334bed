/**
 * Starts one Temporal for the whole run, by the same built code that users get, unless test/temporal-postgres runs one, and one
 * server and worker that files share (`TestStack.shared()`).
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadSettings } from '../dist/platform/settings/index.js';
import { keepRunning } from '../dist/stack/keep-running.js';
import { launch } from '../dist/stack/launcher.js';
import { isPortFree } from '../dist/stack/ports.js';
import { startEmbeddedTemporal } from '../dist/stack/temporal/server.js';

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
  process.env.LONGHAUL_SECRET_SHARED = 's3cr3t-value-1234';
  globalThis.longhaulTestShared = await startSharedStack(home);
}

/** Starts the shared server and worker. They end with Jest's process, and their logs are in the home of the run. */
async function startSharedStack(home) {
  const port = await freePort();
  const taskQueue = `shared-${randomUUID()}`;
  process.env.LONGHAUL_TEST_SHARED_PORT = String(port);
  process.env.LONGHAUL_TEST_SHARED_TASK_QUEUE = taskQueue;
  const project = resolve('test/fixtures/project');
  const environment = {
    ...process.env,
    NODE_OPTIONS: '',
    LONGHAUL_PROJECT: project,
    LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
    LONGHAUL_DATA_FOLDERS: resolve('node_modules/vega-datasets/data'),
    LONGHAUL_TASK_QUEUE: taskQueue,
    LONGHAUL_PORT: String(port),
    // Tests of several files hold steps at once.
    LONGHAUL_MAX_STEPS: '32',
  };
  const start = (command) =>
    launch([process.execPath, resolve('dist/bin/longhaul.js'), command], {
      home,
      log: `shared-${command}`,
      environment,
    });
  return Promise.all(['server', 'worker'].map(start));
}

/** A free port below those that freePort() of test/stack/cli-process.ts gives to Jest's workers. */
async function freePort() {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 2_000);
    if (await isPortFree('127.0.0.1', port)) return port;
  }
}

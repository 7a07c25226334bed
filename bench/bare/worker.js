/**
 * A worker with Temporal's SDK alone, on the workflows and activities that Longhaul's worker runs in the benchmarks.
 *
 *     node bench/bare/worker.js ADDRESS TASK_QUEUE
 */
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address, taskQueue] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('WARN') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  bundlerOptions: {
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, extensionAlias: { '.js': ['.ts', '.js'] } },
    }),
  },
  activities: { doNothing: async () => ({ done: true }) },
});
process.on('SIGTERM', () => worker.shutdown());
await worker.run();
await connection.close();

/** A versioned worker of a build of its own: `node build-worker.js ADDRESS QUEUE DEPLOYMENT BUILD BUNDLE`. */
import { NativeConnection, Worker } from '@temporalio/worker';

const [address, taskQueue, deploymentName, buildId, codePath] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath },
  // As the embedded stack: a killed worker's workflows wait that long.
  stickyQueueScheduleToStartTimeout: '2s',
  workerDeploymentOptions: {
    version: { deploymentName, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  },
});
process.once('SIGTERM', () => worker.shutdown());
await worker.run();
process.exit();

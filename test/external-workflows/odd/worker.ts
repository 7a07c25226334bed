/**
 * A worker without Longhaul, as a process: `node --import jiti/register worker.ts TASK_QUEUE [NAMESPACE [codec]]`; `codec`: its
 * payloads are encoded.
 */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities.js';
import codec from './codec.js';
import { deskHandler } from './desk.js';

const [taskQueue = '', namespace = 'default', encoded] = process.argv.slice(2);
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS']! }),
  ...{ namespace, taskQueue, activities },
  nexusServices: [deskHandler(taskQueue)],
  workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  maxHeartbeatThrottleInterval: '500 milliseconds',
  ...(encoded ? { dataConverter: { payloadCodecs: [codec] } } : {}),
});
console.log('ready');
// Its parent has ended.
process.stdin.resume().on('end', () => worker.shutdown());
await worker.run();

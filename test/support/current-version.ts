/** Makes a build current, as `temporal worker deployment set-current-version` does. */
import type { Client } from '@temporalio/client';
import type { DeploymentVersion } from '../../platform/temporal/deployments.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import { eventually } from './eventually.js';

/** Retries until a worker of the version has polled all its task queues. */
export async function setCurrentVersion(client: Client, version: DeploymentVersion): Promise<void> {
  const { namespace } = client.options;
  await eventually(`${version.buildId} is current`, async () => {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, ...version });
      return true;
    } catch (error) {
      if (!isGrpcError(error, GRPC.notFound, GRPC.failedPrecondition, GRPC.resourceExhausted)) throw error;
      return false;
    }
  });
}

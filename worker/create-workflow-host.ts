/** Chooses how a worker process runs workflow bundles: with or without versions. */
import type { Client } from '@temporalio/client';
import type { Settings } from '../platform/settings/index.js';
import type { TemporalConnection } from '../platform/connect-temporal.js';
import type { Logger } from '../platform/log.js';
import type { WorkflowBundle } from './bundle.js';
import { bundleInChildProcess } from './bundle-in-child.js';
import { KeptCode } from './kept-code.js';
import type { ReplayCheck } from './replay-check.js';
import { SingleBuildHost } from './single-build-host.js';
import { UnversionedHost } from './unversioned-host.js';
import { WorkerGroup } from './worker-group.js';
import type { WorkerFactory } from './workers.js';
import type { WorkflowHost } from './workflow-host.js';

export interface WorkflowHostOptions {
  settings: Settings;
  /** Undefined for an unversioned worker. */
  deploymentName: string | undefined;
  identity: string;
  logger: Logger;
  client: () => Client;
  replays: ReplayCheck;
  factory: WorkerFactory;
  connect: () => Promise<TemporalConnection>;
}

export function createWorkflowHost(options: WorkflowHostOptions): WorkflowHost {
  const { settings, deploymentName, identity, logger, client, replays, factory, connect } = options;
  if (deploymentName === undefined)
    return new UnversionedHost({
      logger,
      replays,
      kept: new KeptCode(settings),
      bundleWithKept: (kept) => bundleInChildProcess(settings, { kept }),
      createWorkers: ({ codePath }) =>
        WorkerGroup.start(connect, async (connection) => [await factory.workflows(codePath, connection)]),
    });
  return new SingleBuildHost({
    taskQueue: settings.taskQueue,
    deploymentName,
    identity,
    logger,
    client,
    replays,
    createWorkers: ({ codePath, buildId }: WorkflowBundle) =>
      WorkerGroup.start(connect, (connection) => {
        const version = { deploymentName, buildId };
        return Promise.all([
          factory.workflows(codePath, connection, version),
          factory.activities(connection, version),
        ]);
      }),
  });
}

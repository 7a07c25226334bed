/** Builds of the workers, with the open operations that only they can run. */
import { reportDeployment } from '../../platform/deployment-report.js';
import type { TemporalClient } from '../temporal.js';

/** Deadline of the report, in milliseconds: it takes several calls. */
const DEADLINE_MS = 10_000;

export interface BuildUse {
  build: string;
  /** `current`, `ramping`, `draining`, `drained`, `inactive`, or `retired` if Temporal has no such version any more. */
  status: string;
  /** Open operations that only this build can run. */
  open: number;
  /** Whether a worker of it takes tasks. */
  isPolled: boolean;
}

/** Builds that new operations go to, or that open ones need; none without Worker Deployments. @throws LonghaulError `unavailable` */
export async function readBuilds(temporal: TemporalClient): Promise<BuildUse[]> {
  const { versions } = await temporal.callVisibility(
    'metrics',
    (client) => reportDeployment(client, temporal.taskQueue),
    DEADLINE_MS,
  );
  return versions
    .filter(
      ({ status, openOperations }) => openOperations > 0 || status === 'current' || status === 'ramping',
    )
    .map(({ buildId, status, openOperations, isPolled }) => ({
      build: buildId,
      status,
      open: openOperations,
      isPolled,
    }));
}

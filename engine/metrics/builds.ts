/** Builds of the workers, and the open operations that only they can run. */
import { reportDeployment } from '../../platform/deployment-report.js';
import type { TemporalClient } from '../temporal.js';

/** Deadline of the report, in milliseconds; it takes several calls. */
const DEADLINE_MS = 10_000;

export interface BuildUse {
  build: string;
  /** `current`, `ramping`, `draining`, `drained`, `inactive`, or `retired` if Temporal no longer knows the version. */
  status: string;
  open: number;
  /** Whether one of its workers takes tasks. */
  isPolled: boolean;
}

/** Builds that take new operations or that open ones need; empty without Worker Deployments. @throws LonghaulError `unavailable` */
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

/** Builds that blocked workflows wait for. Temporal's description names the build of an operation, even a retired one without workers. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { humanDuration } from '../operations/budgets.js';
import {
  hasJustPolled,
  isPolling,
  sincePollMs,
  type Poller,
  type QueueWork,
} from '../platform/host-presence.js';
import type { TemporalClient } from './temporal.js';

const { VersioningBehavior } = proto.temporal.api.enums.v1;
const { VERSIONING_BEHAVIOR_PINNED, VERSIONING_BEHAVIOR_AUTO_UPGRADE } = VersioningBehavior;

type RawDescription = WorkflowExecutionDescription['raw'];

/** The build that a workflow is pinned to; undefined if it runs on any, or no worker has taken it yet. */
export function pinnedBuildOf({ workflowExecutionInfo }: RawDescription): string | undefined {
  const info = workflowExecutionInfo?.versioningInfo;
  const override = info?.versioningOverride;
  if (override?.autoUpgrade || override?.behavior === VERSIONING_BEHAVIOR_AUTO_UPGRADE) return undefined;
  const version =
    override?.pinned?.version ??
    (info?.behavior === VERSIONING_BEHAVIOR_PINNED ? info.deploymentVersion : undefined);
  return version?.buildId || undefined;
}

/** Names the build that a task waits for, for a status message; undefined if that build polls, or any build may take the task. */
export async function describeMissingBuild(
  temporal: TemporalClient,
  raw: RawDescription,
  queue: string,
  work: QueueWork,
): Promise<string | undefined> {
  // The message then says how long the work has waited.
  const state = await temporal.queueState(queue).catch(() => undefined);
  if (!state) return undefined;
  const isThere = work === 'workflows' ? hasJustPolled : isPolling;
  const pinned = pinnedBuildOf(raw);
  if (pinned !== undefined) {
    const pollers = state.pollers.filter(({ buildId }) => buildId === pinned);
    if (pollers.some(isThere)) return undefined;
    return (
      `waits for a worker of build ${pinned}; ${lastPoll(pollers)}: ` +
      `start one of that release, or see \`longhaul deploy status\``
    );
  }
  if (work === 'activities') return undefined;
  const { currentBuildId: current } = state;
  const others = state.pollers.filter((poller) => poller.buildId !== current && isPolling(poller));
  // Unversioned workers take tasks while no build is current.
  if (
    others.length === 0 ||
    (current === undefined &&
      state.pollers.some((poller) => poller.buildId === undefined && isPolling(poller)))
  )
    return undefined;
  if (current === undefined)
    return 'no build of the workers is current, so new operations wait: see `longhaul deploy status`';
  const pollers = state.pollers.filter(({ buildId }) => buildId === current);
  if (pollers.some(isThere)) return undefined;
  return (
    `waits for a worker of the current build ${current}; ${lastPoll(pollers)}: ` +
    `start one, or make another build current: see \`longhaul deploy status\``
  );
}

function lastPoll([latest]: Poller[]): string {
  const since = latest ? humanDuration(sincePollMs(latest) / 1_000) : '5 minutes';
  return `none has polled for ${since}`;
}

/** Finds a namespace's workflow types, and reads what their tools need to know. */
import { isLonghauls, type RunInfo } from '../../engine/list/current-runs.js';
import type { Found } from './draft.js';
import { Observed } from './observed.js';
import { byType, chosenRuns, isOpenRun } from './runs.js';
import { MAX_OPEN, MAX_PARENTS, MAX_TYPES, type Selection, type TemporalReads } from './temporal-reads.js';

interface FoundTypes {
  types: Found[];
  /** Number of runs, without Longhaul's. */
  runs: number;
  /** Number of Longhaul's own runs, which are left out. */
  longhauls: number;
  /** Whether older runs were left out. */
  isLimited: boolean;
  /** Types beyond the limit. */
  leftOut: string[];
}

/** @param report called with a line before each workflow type is read */
export async function findTypes(
  reads: TemporalReads,
  selection: Selection,
  report: (line: string) => void,
): Promise<FoundTypes> {
  const { infos, isLimited } = await reads.runs(selection);
  const others = await withoutLonghauls(reads, infos);
  const groups = byType(others);
  const types: Found[] = [];
  for (const [type, ofType] of groups.slice(0, MAX_TYPES)) {
    report(`reading ${type} (${types.length + 1} of ${Math.min(groups.length, MAX_TYPES)})`);
    types.push({ type, infos: ofType, observed: await observe(reads, ofType, selection) });
  }
  return {
    ...{ types, isLimited, runs: others.length, longhauls: infos.length - others.length },
    leftOut: groups.slice(MAX_TYPES).map(([type]) => type),
  };
}

async function observe(
  reads: TemporalReads,
  infos: RunInfo[],
  { runs, asksWorkers }: Selection,
): Promise<Observed> {
  const observed = new Observed();
  for (const info of chosenRuns(infos, runs)) {
    const events = await reads.history(executionOf(info));
    if (events.length > 0) observed.addHistory(events);
  }
  const open = chosenRuns(infos.filter(isOpenRun), MAX_OPEN);
  for (const info of open) {
    if (observed.heartbeats.size > 0) break;
    const description = await reads.describe(executionOf(info));
    for (const { activityType, heartbeatDetails } of description?.pendingActivities ?? [])
      observed.addHeartbeat(activityType?.name ?? 'an activity', heartbeatDetails);
  }
  const [latest] = open;
  if (asksWorkers && latest) observed.definitions = await reads.definitions(executionOf(latest));
  return observed;
}

/** Leaves out Longhaul's runs, and child workflows under them, which have no mark of their own. */
async function withoutLonghauls(reads: TemporalReads, infos: RunInfo[]): Promise<RunInfo[]> {
  const isOwn = new Map<string, boolean>(
    infos.map((info) => [info.execution?.runId ?? '', isLonghauls(info)]),
  );
  let described = 0;
  const isUnder = async ({ rootExecution, parentExecution }: RunInfo): Promise<boolean> => {
    for (const { workflowId, runId } of [rootExecution, parentExecution].flatMap((one) => one ?? [])) {
      if (!workflowId || !runId) continue;
      if (!isOwn.has(runId) && described < MAX_PARENTS) {
        described += 1;
        const info = (await reads.describe({ workflowId, runId }))?.workflowExecutionInfo;
        isOwn.set(runId, info ? isLonghauls(info) : false);
      }
      if (isOwn.get(runId)) return true;
    }
    return false;
  };
  const left: RunInfo[] = [];
  for (const info of infos)
    if (!isLonghauls(info) && !(info.parentExecution?.workflowId && (await isUnder(info)))) left.push(info);
  return left;
}

function executionOf({ execution }: RunInfo): { workflowId: string; runId: string } {
  return { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
}

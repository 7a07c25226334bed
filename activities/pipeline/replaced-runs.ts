/**
 * Steps of a replaced workflow run. After a reset, a running step continues until its worker's next heartbeat, which Temporal
 * answers with "not found". Until then, the new run starts no step in its workspace.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { childName, type ChildId } from '../../pipelines/run.js';
import { releaseRunning, runningSteps, type FoundStep } from './running.js';

const LOOK_MS = 100;
/** After this time in milliseconds, a worker that hasn't ended its step counts as hanging, and any worker may claim the step. */
const WORKER_LIMIT_MS = 60_000;

export interface ReplacedRuns {
  home: string;
  operationId: string;
  child: ChildId;
  /** Workflow run of the step that is about to start. */
  runId: string;
  stop: AbortSignal;
  /** Gets a line for people when the wait begins. */
  onWait?: ((line: string) => void) | undefined;
}

/**
 * Waits until no step of another workflow run is left in a child's workspace. Two steps may wait for each other, because neither knows
 * which run was replaced. The heartbeat of the replaced run's activity ends its wait.
 *
 * @returns false if `stop` has ended the wait
 */
export async function awaitReplacedRuns({ onWait, ...replaced }: ReplacedRuns): Promise<boolean> {
  const began = performance.now();
  for (let look = 1; !replaced.stop.aborted; look += 1) {
    const left = await stepsOfOtherRuns(replaced);
    if (left.length === 0) return true;
    if (look === 1) onWait?.('waiting for the end of a step of the replaced workflow run');
    if (performance.now() - began > WORKER_LIMIT_MS)
      for (const found of left) if (found.follower === 'other') await releaseRunning(replaced.home, found);
    await sleep(LOOK_MS, undefined, { signal: replaced.stop }).catch(() => undefined);
  }
  return false;
}

async function stepsOfOtherRuns({
  home,
  operationId,
  child,
  runId,
}: Omit<ReplacedRuns, 'onWait'>): Promise<FoundStep[]> {
  return (await runningSteps(home)).filter(
    (running) =>
      running.operationId === operationId &&
      running.runId !== runId &&
      childName(running.step.child) === childName(child),
  );
}

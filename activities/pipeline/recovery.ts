/**
 * Speaking for a worker that died: what became of its steps stands in the journal, and Temporal takes an activity's
 * result from anybody who has its task token. So nobody waits until heartbeats are missed.
 */
import { ActivityNotFoundError, type AsyncCompletionClient } from '@temporalio/client';
import type { Settings } from '../../platform/config.js';
import type { Storage } from '../../platform/storage.js';
import { stepInDoubt } from './failures.js';
import { hostId } from './host.js';
import { findAttempts } from './journal.js';
import { childPaths } from './layout.js';
import { masking } from './mask.js';
import { endOf, judge } from './outcome.js';
import { abandonedSteps, forgetRunning, type RunningStep } from './running.js';
import { secretsOf } from './secrets.js';
import type { StepDone } from '../../pipelines/run.js';

export interface RecoverySurroundings {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  /** Its namespace is that of the steps that are recovered. */
  namespace: string;
  activity: Pick<AsyncCompletionClient, 'complete' | 'fail'>;
  /** Default: this worker's. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * Ends what is left of dead workers' steps and tells Temporal how they ended. Two that do it at once do no harm.
 *
 * @returns how many steps it has told about
 */
export async function recoverSteps(around: RecoverySurroundings): Promise<number> {
  const abandoned = (await abandonedSteps(around.settings.home)).filter(
    ({ namespace }) => namespace === around.namespace,
  );
  await Promise.all(abandoned.map((running) => recover(running, around)));
  return abandoned.length;
}

async function recover(running: RunningStep, around: RecoverySurroundings): Promise<void> {
  const taskToken = Buffer.from(running.taskToken, 'base64');
  const told = await settle(running, around).then(
    (done) => around.activity.complete(taskToken, done).catch(ignoreNotFound),
    (failure: unknown) => around.activity.fail(taskToken, failure).catch(ignoreNotFound),
  );
  await forgetRunning(around.settings.home, running.stepId);
  return told;
}

/** The same that the step would say if it were run again. */
async function settle(running: RunningStep, around: RecoverySurroundings): Promise<StepDone> {
  const { step, workflowId, runId, attempt, stepId } = running;
  const { settings, storage, environment } = around;
  const hidden = masking(Object.values(secretsOf(step.secrets, hostId(settings.home), environment)));
  const attempts = await findAttempts(childPaths(settings.home, workflowId, step.child), step.step);
  const run = attempts.find(({ start }) => start.stepId === stepId);
  if (!run) throw stepInDoubt(step, 'worker', { outputs: {}, lastLines: [] });
  return judge(step, await endOf(step, run, { storage, workflowId, runId, attempt, masking: hidden }));
}

/** Somebody else told, or nobody waits for it any more. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ActivityNotFoundError)) throw error;
}

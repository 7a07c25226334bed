/**
 * Speaking for a worker that died: what became of its steps stands in the journal, and Temporal takes an activity's
 * result from anybody who has its task token. So nobody waits until heartbeats are missed.
 */
import type { ActivityOutcome, ReportOutcome } from '../runtime/outcome.js';
import type { Settings } from '../../platform/config.js';
import type { Storage } from '../../platform/storage.js';
import { stepInDoubt } from './failures.js';
import { hostId } from './host.js';
import { findAttempts } from './journal.js';
import { childPaths } from './layout.js';
import { masking } from './mask.js';
import { previousOutcome, isCanceled, stepOutcome } from './outcome.js';
import { abandonedSteps, forgetRunning, type RunningStep } from './running.js';
import { secretsOf } from './secrets.js';

export interface RecoveryContext {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  /** Its namespace is that of the steps that are recovered. */
  namespace: string;
  reportOutcome: ReportOutcome;
  /** Default: this worker's. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * Ends what is left of dead workers' steps and tells Temporal how they ended. Two that do it at once do no harm.
 *
 * @returns how many steps it has told about
 */
export async function recoverSteps(around: RecoveryContext): Promise<number> {
  const abandoned = (await abandonedSteps(around.settings.home)).filter(
    ({ namespace }) => namespace === around.namespace,
  );
  await Promise.all(abandoned.map((running) => recover(running, around)));
  return abandoned.length;
}

async function recover(running: RunningStep, around: RecoveryContext): Promise<void> {
  const { workflowId, runId, stepId } = running;
  const ended = { taskToken: Buffer.from(running.taskToken, 'base64'), workflowId, runId };
  const outcome = await settle(running, around).catch((error: unknown): ActivityOutcome => ({
    status: 'failed',
    error,
  }));
  if (await around.reportOutcome(ended, outcome)) await forgetRunning(around.settings.home, stepId);
}

/** The same that the step would say if it were run again. */
async function settle(running: RunningStep, around: RecoveryContext): Promise<ActivityOutcome> {
  const { step, workflowId, runId, attempt, stepId } = running;
  const { settings, storage, environment } = around;
  const hidden = masking(Object.values(secretsOf(step.secrets, hostId(settings.home), environment)));
  const attempts = await findAttempts(childPaths(settings.home, workflowId, step.child), step.step);
  const run = attempts.find(({ start }) => start.stepId === stepId);
  if (!run) throw stepInDoubt(step, 'worker', { outputs: {}, lastLines: [] });
  const end = await previousOutcome(step, run, { storage, workflowId, runId, attempt, masking: hidden });
  if (isCanceled(end)) return { status: 'canceled' };
  return { status: 'completed', result: await stepOutcome(step, end) };
}

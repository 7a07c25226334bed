/**
 * Reports the outcomes of a dead worker's steps: they are in the journal, and Temporal accepts an activity's result from any
 * process with its task token. That is faster than the heartbeat time-out.
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
import { abandonedSteps, removeRunning, type RunningStep } from './running.js';
import { secretsOf } from './secrets.js';

export interface RecoveryContext {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  /** Client of the namespace whose steps are recovered. */
  namespace: string;
  reportOutcome: ReportOutcome;
  /** Default: this worker's. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * Ends remaining processes of dead workers' steps and reports the outcomes to Temporal. Concurrent calls are harmless.
 *
 * @returns number of reported steps
 */
export async function recoverSteps(context: RecoveryContext): Promise<number> {
  const abandoned = (await abandonedSteps(context.settings.home)).filter(
    ({ namespace }) => namespace === context.namespace,
  );
  await Promise.all(abandoned.map((running) => recover(running, context)));
  return abandoned.length;
}

async function recover(running: RunningStep, context: RecoveryContext): Promise<void> {
  const { workflowId, runId, stepId } = running;
  const ended = { taskToken: Buffer.from(running.taskToken, 'base64'), workflowId, runId };
  const outcome = await settle(running, context).catch((error: unknown): ActivityOutcome => ({
    status: 'failed',
    error,
  }));
  if (await context.reportOutcome(ended, outcome)) await removeRunning(context.settings.home, stepId);
}

/** The outcome that the activity would have if it ran again. */
async function settle(running: RunningStep, context: RecoveryContext): Promise<ActivityOutcome> {
  const { step, operationId, stepId } = running;
  const { settings, storage, environment } = context;
  const hidden = masking(Object.values(secretsOf(step.secrets, hostId(settings.home), environment)));
  const attempts = await findAttempts(childPaths(settings.home, operationId, step.child), step.step);
  const run = attempts.find(({ start }) => start.stepId === stepId);
  if (!run) throw stepInDoubt(step, 'worker', { outputs: {}, lastLines: [] });
  const end = await previousOutcome(step, run, { storage, operationId, masking: hidden });
  if (isCanceled(end)) return { status: 'canceled' };
  return { status: 'completed', result: await stepOutcome(step, end) };
}

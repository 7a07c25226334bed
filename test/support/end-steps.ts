/** Ends pipeline steps with the test that has started them: they outlive their workers. */
import { endRun } from '../../worker/steps/end-steps.js';
import { runningSteps, runOf } from '../../worker/steps/running.js';

/** Kills the steps of a home, of one task queue if it is given, and waits until none of their processes is left. */
export async function endStepsOf(home: string, taskQueue?: string): Promise<void> {
  const steps = (await runningSteps(home)).filter(
    (running) => taskQueue === undefined || running.taskQueue === taskQueue,
  );
  await Promise.all(
    steps.map(async (running) => {
      const run = await runOf(home, running);
      if (run) await endRun(run, 'down', 0);
    }),
  );
}

import { defineSignal, getExternalWorkflowHandle, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { cleanup, progress, stage } from 'longhaul/workflow';
import type * as activities from '../activities/clones.js';
import type { Row, State } from '../lib/states.js';

/** Sent to the tool's workflow, whose partial result has the states of all repositories. */
export const repositoryState = defineSignal<[name: string, state: State]>('repositoryState');

/** Units of progress of a repository. */
export const STEPS = 4;

export interface Repository {
  name: string;
  root: string;
  head: string;
  author: string;
  branch: string;
  checks?: string[];
  commandSeconds: number;
}

/** A commit that isn't in the repository yet. */
export interface Change {
  commit: string;
  /** Git bundle with the commit, base64: the clone isn't needed while people decide. */
  bundle: string;
}

type Outcome = Omit<Row, 'name' | 'path' | 'note'> & { change?: Change };

const quick = { heartbeatTimeout: '20s', retry: { maximumAttempts: 5 } } as const;
// On cancel, the clone is removed once nothing runs in it.
const cancellationType = 'WAIT_CANCELLATION_COMPLETED';

const { cloneRepository, changeFiles, removeClone } = proxyActivities<typeof activities>({
  ...quick,
  startToCloseTimeout: '30m',
  cancellationType,
});

/** A part of the operation: one repository, up to the question. */
export async function migrate_repository(repository: Repository): Promise<Outcome> {
  const { name, commandSeconds } = repository;
  const { runCommand } = proxyActivities<typeof activities>({
    ...quick,
    startToCloseTimeout: (commandSeconds + 60) * 1000,
    cancellationType,
  });
  const id = workflowInfo().workflowId;
  const enter = async (state: State, done: number) => {
    stage(state);
    progress({ progress: done, total: STEPS });
    await getExternalWorkflowHandle(workflowInfo().parent!.workflowId).signal(repositoryState, name, state);
  };
  const runAll = async (commands: string[], run: 'before' | 'after') => {
    for (const command of commands) {
      const { problem, log } = await runCommand({ id, name, command, run, timeLimitSeconds: commandSeconds });
      if (problem) return { reason: `${problem} ${run} the change`, log: log! };
    }
    return undefined;
  };
  const end = async (outcome: Outcome) => {
    await removeClone(id);
    progress({ progress: STEPS });
    return outcome;
  };
  cleanup(() => removeClone(id));

  await enter('cloning', 0);
  const { plan, problem } = await cloneRepository({ ...repository, id });
  if (!plan) return end({ state: 'skipped', reason: problem! });
  await enter('checking', 1);
  const before = await runAll([...plan.install, ...plan.checks], 'before');
  if (before) return end({ state: 'skipped', ...before });
  await enter('changing', 2);
  const { change, ...facts } = await changeFiles({ ...repository, id, timeLimitSeconds: 1200 });
  if (!change) return end({ state: 'unchanged', ...facts });
  await enter('checking again', 3);
  const after = await runAll(plan.checks, 'after');
  return end(after ? { state: 'failed', ...facts, ...after } : { state: 'ready', ...facts, change });
}

import {
  executeChild,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { cleanup, partial, progress, requestInput, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/migrate_repositories.js';
import type { Inspected } from '../activities/migrate_repositories.js';
import { approvalOf, type Approval } from '../lib/approval.js';
import type { Row } from '../lib/states.js';
import type tool from '../tools/migrate_repositories.js';
import { migrate_repository, repositoryState, STEPS, type Change } from './migrate_repository.js';

const { inspectRepositories, createBranch, removeBranch } = proxyActivities<typeof activities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 5 },
  // The cleanup begins once no branch is being created.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

export async function migrate_repositories(input: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  const { repositories: paths, branch, author } = input;
  stage('inspect');
  const found = await inspectRepositories({ paths, branch, ...(author && { author }) });
  const rows = found.map(({ row }) => row);
  const show = () => partial({ repositories: rows });
  setHandler(repositoryState, (name, state) => {
    rows.find((row) => row.name === name)!.state = state;
    show();
  });
  show();

  stage('migrate');
  const open = found.filter(({ row }) => row.state === 'waiting');
  progress({ total: open.length * STEPS });
  const changes = new Map<string, Change>();
  await sideBySide(open, input.parallel, async ({ row, source }) => {
    const { change, ...outcome } = await migrated(row, source!, input);
    Object.assign(row, outcome);
    if (change) changes.set(row.name, change);
    show();
  });

  const ready = rows.filter(({ state }) => state === 'ready');
  if (ready.length > 0) {
    stage('approve');
    const { schema, message } = approvalOf(ready, rows.length, branch);
    const answer = await requestInput(schema, message);
    const chosen = answer.action === 'accept' ? (answer.content as unknown as Approval).commit : [];
    stage('commit');
    const created: { root: string; branch: string; commit: string }[] = [];
    cleanup(async () => {
      for (const one of created) await removeBranch(one);
    });
    for (const row of ready) {
      if (!chosen.includes(row.name)) {
        row.state = 'declined';
        continue;
      }
      const { root } = found.find((one) => one.row === row)!.source!;
      const { commit, bundle } = changes.get(row.name)!;
      created.push({ root, branch, commit });
      const { problem } = await createBranch({ root, branch, commit, bundle });
      Object.assign(
        row,
        problem ? { state: 'failed', reason: problem } : { state: 'committed', branch, commit },
      );
      show();
    }
    show();
  }
  return { repositories: rows };
}

/** Runs the child workflow. A fault of one repository, such as a full disk, leaves the others alone. */
async function migrated(row: Row, source: NonNullable<Inspected['source']>, input: ToolInput<typeof tool>) {
  const { checks, branch, commandSeconds } = input;
  const { workflowId } = workflowInfo();
  try {
    return await executeChild(migrate_repository, {
      workflowId: `${workflowId}.${row.name}`,
      args: [{ name: row.name, ...source, branch, commandSeconds, ...(checks && { checks }) }],
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { cause, message } = error as Error & { cause?: Error };
    return {
      state: 'failed' as const,
      reason: cause?.cause instanceof Error ? cause.cause.message : (cause?.message ?? message),
    };
  }
}

/** Works on the items, at most `atOnce` of them at a time, in their order. */
async function sideBySide<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

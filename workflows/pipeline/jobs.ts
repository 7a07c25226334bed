/** Scheduling of jobs: each starts once those in its `needs` have ended, within the pipeline's `concurrency`. */
import { condition } from '@temporalio/workflow';
import type { Job, Pipeline } from '../../pipelines/pipeline.js';
import type { ArtifactReference, PipelineRun } from '../../pipelines/run.js';
import type { Child } from './child.js';

interface JobOutcome {
  isCompleted: boolean;
  /** Whether it failed, or was skipped because a job in its `needs` failed. */
  hasFailed: boolean;
}

/** Runs all jobs to their end. If one fails, only the jobs that need its success are skipped. */
export async function runJobs({ pipeline }: PipelineRun, children: Child[]): Promise<void> {
  const byJob = new Map<string, Child[]>();
  for (const child of children) {
    const { job } = child.id;
    byJob.set(job, [...(byJob.get(job) ?? []), child]);
  }
  const limit = limiter(pipeline.concurrency);
  const outcomes = new Map<string, Promise<JobOutcome>>();
  for (const name of inOrder(pipeline)) {
    const job = pipeline.jobs[name]!;
    const needed = Promise.all(job.needs.map((need) => outcomes.get(need)!));
    const outcome = needed.then((outcomesOfNeeds) =>
      runJob(job, outcomesOfNeeds, byJob.get(name) ?? [], artifactsOf(job, byJob), limit),
    );
    // Awaited below: no unhandled rejection until then.
    outcome.catch(() => undefined);
    outcomes.set(name, outcome);
  }
  // A rejection, i.e. a cancel or a defect, ends the workflow only after all jobs have ended.
  const settled = await Promise.allSettled(outcomes.values());
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
}

async function runJob(
  job: Job,
  needed: JobOutcome[],
  children: Child[],
  artifacts: () => ArtifactReference[],
  limit: Limiter,
): Promise<JobOutcome> {
  const hasFailedBefore = needed.some(({ hasFailed }) => hasFailed);
  const isDue =
    job.if === 'always' ||
    (job.if === 'failure' ? hasFailedBefore : needed.every(({ isCompleted }) => isCompleted));
  if (!isDue) {
    for (const child of children) child.skip();
    return { isCompleted: false, hasFailed: hasFailedBefore };
  }
  await Promise.all(children.map((child) => limit(() => child.run(artifacts()))));
  const hasFailed = children.some((child) => child.failure);
  return { isCompleted: !hasFailed, hasFailed };
}

/** Getter of the artifacts of all jobs in `needs`; complete once those have ended. */
function artifactsOf(job: Job, byJob: Map<string, Child[]>): () => ArtifactReference[] {
  return () =>
    job.needs.flatMap((need) =>
      (byJob.get(need) ?? []).flatMap(({ id, record }) =>
        (record.artifacts ?? []).map((artifact) => ({ ...artifact, child: id })),
      ),
    );
}

/** Names of the jobs in topological order of `needs`; the file has been checked for cycles. */
function inOrder({ jobs }: Pipeline): string[] {
  const ordered = new Set<string>();
  let waiting = Object.keys(jobs);
  while (waiting.length > 0) {
    const ready = waiting.filter((name) => jobs[name]!.needs.every((need) => ordered.has(need)));
    if (ready.length === 0) throw new Error(`needs form a cycle: ${waiting.join(', ')}`);
    for (const name of ready) ordered.add(name);
    waiting = waiting.filter((name) => !ordered.has(name));
  }
  return [...ordered];
}

type Limiter = <T>(work: () => Promise<T>) => Promise<T>;

/** Limits how many run at once; waiting ones end with the workflow's cancel. */
function limiter(limit: number): Limiter {
  let running = 0;
  return async (work) => {
    while (running >= limit) await condition(() => running < limit);
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
}

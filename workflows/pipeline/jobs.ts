/** The order of jobs: each begins once those that it needs have ended, and so many run side by side. */
import { condition } from '@temporalio/workflow';
import type { Job, Pipeline } from '../../pipelines/pipeline.js';
import type { ArtifactReference, PipelineRun } from '../../pipelines/run.js';
import type { Child } from './child.js';

interface JobOutcome {
  isCompleted: boolean;
  /** It failed, or it was skipped because something that it needs failed. */
  hasFailed: boolean;
}

/** Runs all jobs to their end; a job that fails ends those that need its success, and no others. */
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
    // Awaited below; until then a failure is nobody's.
    outcome.catch(() => undefined);
    outcomes.set(name, outcome);
  }
  // All of them end before the first one's failure (only a cancel, or a defect) ends the workflow.
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

/** The artifacts of all jobs that this one needs, once those have ended. */
function artifactsOf(job: Job, byJob: Map<string, Child[]>): () => ArtifactReference[] {
  return () =>
    job.needs.flatMap((need) =>
      (byJob.get(need) ?? []).flatMap(({ id, record }) =>
        (record.artifacts ?? []).map((artifact) => ({ ...artifact, child: id })),
      ),
    );
}

/** The jobs' names, each after those that it needs; the file has been checked for cycles. */
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

/** Lets so many run at once; those that wait end with the workflow's cancel. */
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

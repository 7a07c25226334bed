/** Scheduling of jobs: each starts once its `needs` have ended, within the pipeline's `concurrency`. */
import type { Job, Pipeline } from '../../pipelines/pipeline.js';
import type { ArtifactReference, PipelineRun } from '../../pipelines/run.js';
import { Child } from './child.js';
import type { JobPart } from './job-part.js';
import { Page, runPages } from './pages.js';
import type { Slots } from './slots.js';

interface JobOutcome {
  isCompleted: boolean;
  /** Whether it failed, or was skipped because a job in its `needs` failed. */
  hasFailed: boolean;
}

/** Runs all jobs to their end. If one fails, only jobs that need its success are skipped. */
export async function runJobs(
  { pipeline }: PipelineRun,
  byJob: ReadonlyMap<string, JobPart[]>,
  slots: Slots,
): Promise<void> {
  const outcomes = new Map<string, Promise<JobOutcome>>();
  for (const name of inOrder(pipeline)) {
    const job = pipeline.jobs[name]!;
    const needed = Promise.all(job.needs.map((need) => outcomes.get(need)!));
    const outcome = needed.then((outcomesOfNeeds) =>
      runJob(job, outcomesOfNeeds, byJob.get(name) ?? [], artifactsOf(job, byJob), slots),
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
  parts: JobPart[],
  artifacts: () => ArtifactReference[],
  slots: Slots,
): Promise<JobOutcome> {
  const hasFailedBefore = needed.some(({ hasFailed }) => hasFailed);
  const isDue =
    job.if === 'always' ||
    (job.if === 'failure' ? hasFailedBefore : needed.every(({ isCompleted }) => isCompleted));
  if (!isDue) {
    for (const part of parts) part.skip();
    return { isCompleted: false, hasFailed: hasFailedBefore };
  }
  const pages = parts.filter((part) => part instanceof Page);
  const children = parts.filter((part) => part instanceof Child);
  await Promise.all([runPages(pages, artifacts), slots.runAll(children, (child) => child.run(artifacts()))]);
  const hasFailed = parts.some(({ failureCount }) => failureCount > 0);
  return { isCompleted: !hasFailed, hasFailed };
}

/** Getter of the artifacts of all jobs in `needs`; complete once these have ended. */
function artifactsOf(job: Job, byJob: ReadonlyMap<string, JobPart[]>): () => ArtifactReference[] {
  return () => job.needs.flatMap((need) => (byJob.get(need) ?? []).flatMap((part) => part.artifacts()));
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

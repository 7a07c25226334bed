/** Estimates history sizes. Temporal ends a workflow at 51,200 events, so jobs with many items run in pages: child workflows. */
import type { Job } from './pipeline.js';

/** Maximum estimated events of a pipeline's own history; retries after questions and lost hosts add more. */
export const MAX_RUN_EVENTS = 45_000;
/** Estimated events from which jobs with many items run in pages. */
const PAGED_RUN_EVENTS = 8_000;
const MAX_PAGE_EVENTS = 4_000;
const MIN_PAGED_ITEMS = 50;

/** Events of an activity, its workflow tasks, and its progress. */
const ACTIVITY_EVENTS = 7;
/** Events of an approval: question and answer, in memo, search attribute, update and workflow tasks. */
const APPROVAL_EVENTS = 20;
/** Events of a page in its pipeline's history, with the signals about its slots. */
const PAGE_EVENTS = 50;

/** Events of one child without retries. */
export function childEvents({ steps, artifacts }: Job): number {
  const activities =
    steps.filter(({ run }) => run !== undefined).length +
    (artifacts.length > 0 ? 1 : 0) +
    (needsWorkspace({ steps, artifacts }) ? 1 : 0);
  return activities * ACTIVITY_EVENTS + approvalEvents({ steps });
}

/** Whether a job's children need a workspace: a job that only asks doesn't. */
export function needsWorkspace({ steps, artifacts }: Pick<Job, 'steps' | 'artifacts'>): boolean {
  return steps.some(({ run }) => run !== undefined) || artifacts.length > 0;
}

function approvalEvents({ steps }: Pick<Job, 'steps'>): number {
  return steps.filter(({ approval }) => approval !== undefined).length * APPROVAL_EVENTS;
}

export function itemsPerPage(job: Job): number {
  return Math.max(1, Math.floor(MAX_PAGE_EVENTS / Math.max(1, childEvents(job))));
}

/** Events of a paged job in the pipeline's history, which also has its approvals' questions. */
function pagedJobEvents(job: Job, items: number): number {
  return Math.ceil(items / itemsPerPage(job)) * PAGE_EVENTS + items * approvalEvents(job);
}

/** Plans paged jobs: none while all children fit into one history, or else jobs with many items. @param items by `for-each` job */
export function planHistory(
  jobs: Record<string, Job>,
  items: ReadonlyMap<string, number>,
): { paged: Set<string>; events: number } {
  const all = Object.entries(jobs).map(([name, job]) => ({ name, job, count: items.get(name) ?? 1 }));
  const events = sum(all.map(({ job, count }) => count * childEvents(job)));
  if (events <= PAGED_RUN_EVENTS) return { paged: new Set(), events };
  const isPaged = ({ job, count }: (typeof all)[number]) =>
    job.forEach !== undefined && count >= MIN_PAGED_ITEMS;
  return {
    paged: new Set(all.filter(isPaged).map(({ name }) => name)),
    events: sum(
      all.map((one) =>
        isPaged(one) ? pagedJobEvents(one.job, one.count) : one.count * childEvents(one.job),
      ),
    ),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

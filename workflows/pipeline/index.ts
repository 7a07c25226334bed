/**
 * Workflow of every pipeline. Its argument holds the parsed file and the inputs, so edits of the file don't affect operations that have
 * started. All jobs and steps share one history. Only a job with too many items for it runs them in child workflows, its pages.
 */
import { ApplicationFailure, setHandler, workflowInfo } from '@temporalio/workflow';
import { listed } from '../../operations/json/counted.js';
import { itemsPerPage, MAX_RUN_EVENTS, planHistory } from '../../pipelines/history-size.js';
import {
  INPUTS_QUERY,
  NAMED_FAILURES,
  type ChildFailure,
  type PipelineResume,
  type PipelineRun,
} from '../../pipelines/run.js';
import { Child } from './child.js';
import { type JobPart, type SharedInputs, endParts } from './job-part.js';
import { approvedFor } from './gates.js';
import { handleDropHost } from './hosts.js';
import { runJobs } from './jobs.js';
import { partialResult, pipelineResult } from './outputs.js';
import { dropHostOfPages, handleReturnedSlots, Page, pagesOf } from './pages.js';
import { countStepsOf, showProgress } from './progress.js';
import { applyResume, holdGates } from './resume.js';
import { Slots } from './slots.js';
import { children as showChildren, cleanup, partial, progress } from '../runtime/index.js';
import { startMemo } from '../runtime/state.js';

export { pipeline_page } from './page.js';

/** Maximum size of inputs repeated in the history for each child, in characters of JSON. */
const REPEATED_INPUTS = 4_096;

export async function pipeline(run: PipelineRun): Promise<Record<string, unknown>> {
  const slots = new Slots(run.pipeline.concurrency);
  const jobs = plannedParts(run, slots);
  const parts = [...jobs.values()].flat();
  const children = parts.filter((part) => part instanceof Child);
  const pages = parts.filter((part) => part instanceof Page);
  const records = parts.map((part) => part.record);
  showChildren(records);
  countStepsOf(records);
  setHandler(INPUTS_QUERY, () => run.inputs, { description: 'The inputs.' });
  handleDropHost(dropHostOfPages);
  handleReturnedSlots();
  if (run.resume) {
    applyResume(run.pipeline, { children, pages }, run.resume);
    holdGates(run.pipeline, jobs);
  }
  progress({ total: parts.reduce((sum, part) => sum + stepsOf(part), 0) });
  showProgress();
  cleanup((reason) => endParts(parts, reason));
  await runJobs(run, jobs, slots);
  const failureCount = parts.reduce((sum, part) => sum + part.failureCount, 0);
  if (failureCount > 0) {
    const outputs = partialResult(run.pipeline, jobs);
    if (Object.keys(outputs).length > 0) partial(outputs);
    throw failureOf(
      parts.flatMap((part) => part.failures()),
      failureCount,
    );
  }
  return pipelineResult(run.pipeline, jobs);
}

/** Each job's parts, with pending steps. @throws ApplicationFailure `TooManySteps` if the history would be too long */
function plannedParts({ pipeline, inputs, resume }: PipelineRun, slots: Slots): Map<string, JobPart[]> {
  const lists = new Map<string, unknown[]>();
  for (const [job, { forEach }] of Object.entries(pipeline.jobs))
    if (forEach !== undefined) lists.set(job, Array.isArray(inputs[forEach]) ? inputs[forEach] : []);
  const counts = new Map([...lists].map(([job, items]) => [job, items.length]));
  const { paged, events } = planHistory(pipeline.jobs, counts);
  if (events > MAX_RUN_EVENTS) throw tooManySteps(counts, events);
  const shared: SharedInputs = {
    inputs: JSON.stringify(inputs).length > REPEATED_INPUTS ? undefined : inputs,
    createdAt: startMemo()?.createdAt ?? workflowInfo().startTime.toISOString(),
    approvedFor: approvedFor(pipeline, inputs),
  };
  return new Map(
    Object.entries(pipeline.jobs).map(([job, definition]): [string, JobPart[]] => {
      const items = lists.get(job);
      if (!items) return [job, [new Child(pipeline, { job }, shared, undefined)]];
      const earlier = earlierSizes(job, resume);
      if (earlier || (paged.has(job) && !resume)) {
        const sizes = earlier ?? pageSizes(items.length, itemsPerPage(definition));
        return [job, pagesOf({ pipeline, job, items, shared }, sizes, slots)];
      }
      return [job, items.map((item, index) => new Child(pipeline, { job, index }, shared, item))];
    }),
  );
}

function pageSizes(count: number, perPage: number): number[] {
  return Array.from({ length: Math.ceil(count / perPage) }, (_, page) =>
    Math.min(perPage, count - page * perPage),
  );
}

/** Sizes of the job's pages in the resumed operation; undefined if it had none. */
function earlierSizes(job: string, resume: PipelineResume | undefined): number[] | undefined {
  const sizes = (resume?.children ?? []).flatMap(({ page }) => (page?.job === job ? [page.count] : []));
  return sizes.length > 0 ? sizes : undefined;
}

function tooManySteps(counts: ReadonlyMap<string, number>, events: number): ApplicationFailure {
  const lists = [...counts].map(([job, count]) => `${job} has ${count} items`).join(', ');
  return ApplicationFailure.nonRetryable(
    `${lists || 'its jobs'}: about ${events} events in the history of one operation; expected at most ${MAX_RUN_EVENTS}. Give it shorter lists; items that run in pages and ask nobody need fewest`,
    'TooManySteps',
  );
}

function stepsOf(part: JobPart): number {
  return part instanceof Page ? part.count * part.job.steps.length : part.record.steps.length;
}

function failureOf(failures: ChildFailure[], count: number): ApplicationFailure {
  const [first, ...others] = failures;
  const { message, type } = first!;
  const names = others.map(({ name }) => name);
  const also = names.length ? `\n\nAlso failed: ${listed(names, NAMED_FAILURES, count - 1)}` : '';
  return ApplicationFailure.nonRetryable(message + also, type);
}

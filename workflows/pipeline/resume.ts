/** Resume of an earlier operation: the new one gets its pipeline, inputs and finished steps. */
import { LonghaulError } from '../../operations/errors.js';
import { chooseStep } from '../../operations/steps.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { check } from '../../operations/schema.js';
import type { ResumePlan, ResumeRequest } from '../../operations/wire.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { PageResult, PipelineResume, PipelineRun, StepPosition } from '../../pipelines/run.js';
import type { Child } from './child.js';
import { pendingSteps } from './job-part.js';
import type { Page } from './pages.js';

/** Input of the new operation's workflow, or why the request is refused. */
export function planResume(
  run: PipelineRun,
  records: ChildRecord[],
  pages: Record<string, PageResult>,
  request: ResumeRequest,
): ResumePlan {
  const resume: PipelineResume = {
    workflowId: request.workflowId,
    children: records,
    ...(Object.keys(pages).length > 0 ? { pages } : {}),
  };
  const inputs = { ...run.inputs, ...request.changes };
  const problems = problemsOf(run.pipeline, inputs, request.changes ?? {});
  if (problems.length > 0) return { problem: problems.join('\n') };
  try {
    if (request.from !== undefined) resume.from = startOf(run.pipeline, records, request.from);
  } catch (error) {
    if (error instanceof LonghaulError) return { problem: error.message };
    throw error;
  }
  return { input: { pipeline: run.pipeline, inputs, resume } satisfies PipelineRun };
}

/** Refuses changes to a list that jobs run for: finished items are known by their position in it. */
function problemsOf(
  { inputs: schema, jobs }: Pipeline,
  inputs: Record<string, unknown>,
  changes: Record<string, unknown>,
): string[] {
  const lists = Object.entries(jobs).flatMap(([job, { forEach }]) =>
    forEach !== undefined && forEach in changes
      ? [
          `changes.${forEach}: the job ${job} runs for each of it, so it can't change in a resume; call the pipeline again instead`,
        ]
      : [],
  );
  return lists.length > 0 || Object.keys(changes).length === 0 ? lists : check(schema, inputs, 'changes');
}

/** A job's name alone means its first step. @throws LonghaulError for an unknown step */
function startOf(pipeline: Pipeline, records: ChildRecord[], reference: string): StepPosition {
  const [child = '', step] = reference.split('/', 2);
  const isPaged = records.some((record) => pageHas(record, child));
  // The records of a page's items are in its own workflow.
  const known: ChildRecord[] = isPaged
    ? [...records, { name: child, status: 'pending', steps: pendingSteps(pipeline.jobs[jobOf(child)]!) }]
    : records;
  if (step === undefined && known.some(({ name, page }) => name === child && !page))
    return { child, step: 1 };
  const { child: name, position } = chooseStep(known, reference);
  return { child: name, step: position };
}

/** Whether a page has an item, by its name. */
function pageHas({ page }: ChildRecord, child: string): boolean {
  const index = Number(/\[(\d+)\]$/.exec(child)?.[1] ?? -1);
  return page?.job === jobOf(child) && index >= page.from && index < page.from + page.count;
}

/** Copies finished jobs and steps of an earlier operation into the children of this one that have no pages. */
export function applyResume(
  pipeline: Pipeline,
  children: Child[],
  { workflowId, children: earlier, from }: PipelineResume,
): void {
  const byName = new Map(earlier.map((record) => [record.name, record]));
  const runAgain = dueAgain(pipeline, earlier, from);
  for (const child of children) {
    const before = byName.get(child.record.name);
    if (!before || runAgain.has(child.id.job)) continue;
    const isStart = from?.child === child.record.name;
    if (before.status === 'completed' && !isStart) copyFinished(child, before, workflowId);
    else continueChild(child, before, workflowId, isStart ? from.step : undefined);
  }
}

/** Does the same for the pages of this operation. */
export function applyResumeToPages(
  pipeline: Pipeline,
  pages: Page[],
  { workflowId, children: earlier, pages: results = {}, from }: PipelineResume,
): void {
  const byName = new Map(earlier.map((record) => [record.name, record]));
  const runAgain = dueAgain(pipeline, earlier, from);
  for (const page of pages) {
    const before = byName.get(page.name);
    if (!before || runAgain.has(jobOf(page.name))) continue;
    const hasStart = from !== undefined && pageHas(before, from.child);
    const result = results[page.name];
    if (before.status === 'completed' && result && !hasStart) page.complete(before, result);
    else if (before.page?.workflowId)
      page.earlier = { workflowId, pageId: before.page.workflowId, ...(hasStart ? { from } : {}) };
  }
}

/** Jobs that run again from their start: dependents of an unfinished job that ran did so because it failed. */
function dueAgain(pipeline: Pipeline, children: ChildRecord[], from: StepPosition | undefined): Set<string> {
  const unfinished = children.filter(
    (record) =>
      !['completed', 'skipped'].includes(record.status) ||
      record.name === from?.child ||
      (from !== undefined && pageHas(record, from.child)),
  );
  return dependents(pipeline, new Set(unfinished.map(({ name }) => jobOf(name))));
}

function copyFinished(child: Child, before: ChildRecord, workflowId: string): void {
  Object.assign(child.record, before, { steps: before.steps.map((step) => withLogsOf(step, workflowId)) });
}

/** Copies the steps before the first one that is to run. */
function continueChild(
  child: Child,
  before: ChildRecord,
  workflowId: string,
  fromStep: number | undefined,
): void {
  const first = fromStep === undefined ? firstUnfinished(child, before) : fromStep - 1;
  if (first <= 0 || before.host === undefined) return;
  child.record.steps.splice(
    0,
    first,
    ...before.steps.slice(0, first).map((step) => withLogsOf(step, workflowId)),
  );
  if (before.outputs) child.record.outputs = before.outputs;
  if (before.approval) child.record.approval = before.approval;
  child.earlier = { workflowId, host: before.host };
}

function firstUnfinished(child: Child, { steps }: ChildRecord): number {
  const isFinished = (step: StepRecord, at: number) =>
    ['completed', 'skipped'].includes(step.status) ||
    (child.job.steps[at]?.continueOnError === true && ['failed', 'timed_out'].includes(step.status));
  const first = steps.findIndex((step, at) => !isFinished(step, at));
  return first === -1 ? steps.length : first;
}

function withLogsOf(step: StepRecord, workflowId: string): StepRecord {
  return { ...step, logsOf: step.logsOf ?? workflowId };
}

/** Transitive dependents of these jobs. */
function dependents({ jobs }: Pipeline, needed: Set<string>): Set<string> {
  const found = new Set<string>();
  let size = -1;
  while (size !== found.size) {
    size = found.size;
    for (const [name, { needs }] of Object.entries(jobs))
      if (needs.some((need) => needed.has(need) || found.has(need))) found.add(name);
  }
  return found;
}

function jobOf(child: string): string {
  return child.replace(/\[\d+(-\d+)?\]$/, '');
}

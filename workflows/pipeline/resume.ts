/** Resume of an earlier operation: the new one gets its pipeline, inputs and finished steps. */
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { jobOf, pageHas } from '../../pipelines/parts.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { PipelineResume, StepPosition } from '../../pipelines/run.js';
import type { Child } from './child.js';
import { jobsBeforeWork } from './gates.js';
import type { JobPart } from './job-part.js';
import type { Page } from './pages.js';

/** Copies an earlier operation's finished jobs and steps into this one's children, and its pages' results into this one's pages. */
export function applyResume(
  pipeline: Pipeline,
  { children, pages = [] }: { children: Child[]; pages?: Page[] },
  { workflowId, children: earlier, pages: results = {}, from }: PipelineResume,
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
  for (const page of pages) {
    const before = byName.get(page.name);
    if (!before || runAgain.has(jobOf(page.name))) continue;
    const hasStart = from !== undefined && pageHas(before, from.child);
    const result = results[page.name];
    if (before.status === 'completed' && result && !hasStart) page.complete(before, result);
    if (before.page?.workflowId)
      page.earlier = { workflowId, pageId: before.page.workflowId, ...(hasStart ? { from } : {}) };
  }
}

/** Asks again for an earlier operation's approvals that were given for another pipeline or other inputs. */
export function holdGates(pipeline: Pipeline, byJob: ReadonlyMap<string, JobPart[]>): void {
  const before = jobsBeforeWork(pipeline, (job) => byJob.get(job)!.some(({ hasWork }) => hasWork));
  for (const [job, parts] of byJob) for (const part of parts) part.holdGates(before.has(job));
}

/** Jobs that run again from their start. Dependents of an unfinished job ran because it failed, so they run again. */
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

/** Copies the steps before the first one to run. */
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

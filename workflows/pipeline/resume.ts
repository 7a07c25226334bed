/** Resume of an earlier operation: the new one gets its pipeline, inputs and finished steps. */
import { LonghaulError } from '../../operations/errors.js';
import { chooseStep } from '../../operations/steps.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { check } from '../../operations/schema.js';
import type { ResumePlan, ResumeRequest } from '../../operations/wire.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { PipelineResume, PipelineRun } from '../../pipelines/run.js';
import type { Child } from './child.js';

/** Input of the new operation's workflow, or why the request is refused. */
export function planResume(run: PipelineRun, records: ChildRecord[], request: ResumeRequest): ResumePlan {
  const resume: PipelineResume = { workflowId: request.workflowId, children: records };
  const inputs = { ...run.inputs, ...request.changes };
  const problems = problemsOf(run.pipeline, inputs, request.changes ?? {});
  if (problems.length > 0) return { problem: problems.join('\n') };
  try {
    if (request.from !== undefined) resume.from = startOf(records, request.from);
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
function startOf(records: ChildRecord[], reference: string): { child: string; step: number } {
  if (records.some(({ name }) => name === reference)) return { child: reference, step: 1 };
  const { child, position } = chooseStep(records, reference);
  return { child, step: position };
}

/** Copies finished jobs and steps of an earlier operation into the children of this one. */
export function applyResume(
  pipeline: Pipeline,
  children: Child[],
  { workflowId, children: earlier, from }: PipelineResume,
): void {
  const byName = new Map(earlier.map((record) => [record.name, record]));
  // Dependents of an unfinished job that ran did so because it failed: they are due again.
  const unfinished = earlier.filter(
    ({ name, status }) => !['completed', 'skipped'].includes(status) || name === from?.child,
  );
  const runAgain = dependents(pipeline, new Set(unfinished.map(({ name }) => jobOf(name))));
  for (const child of children) {
    const before = byName.get(child.record.name);
    if (!before || runAgain.has(child.id.job)) continue;
    const isStart = from?.child === child.record.name;
    if (before.status === 'completed' && !isStart) copyFinished(child, before, workflowId);
    else continueChild(child, before, workflowId, isStart ? from.step : undefined);
  }
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
  return child.replace(/\[\d+\]$/, '');
}

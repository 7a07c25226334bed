/** Plans the input of an operation that resumes another, only from what that one left: its file may have changed or gone. */
import { LonghaulError } from '../operations/errors.js';
import type { ChildRecord } from '../operations/record.js';
import { check } from '../operations/tool/schema.js';
import { chooseStep } from '../operations/steps.js';
import { jobOf, pageHas, pendingSteps } from './parts.js';
import type { Pipeline } from './pipeline.js';
import type { PageResult, PipelineResume, PipelineRun, StepPosition } from './run.js';

/** Outcome and steps of a closed operation. */
export interface ClosedRun {
  workflowId: string;
  run: PipelineRun;
  children: ChildRecord[];
  pages: Record<string, PageResult>;
}

export interface ResumeRequest {
  /** Step to resume from. Default: after the last finished step. */
  from?: string;
  /** Changed arguments, for the steps that still run. */
  changes?: Record<string, unknown>;
}

/** Plans a resume. @throws LonghaulError `invalid_arguments` for an unknown step or invalid changes */
export function planResume(
  { workflowId, run, children, pages }: ClosedRun,
  { from, changes = {} }: ResumeRequest,
): PipelineRun {
  const inputs = { ...run.inputs, ...changes };
  const problems = problemsOf(run.pipeline, inputs, changes);
  if (problems.length > 0) throw new LonghaulError('invalid_arguments', problems.join('\n'));
  const resume: PipelineResume = {
    workflowId,
    children,
    ...(Object.keys(pages).length > 0 ? { pages } : {}),
    ...(from === undefined ? {} : { from: startOf(run.pipeline, children, from) }),
  };
  return { pipeline: run.pipeline, inputs, resume };
}

/** Refuses changes to a `for-each` list: finished items are known by their position. */
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

/** A job's name alone means its first step. @throws LonghaulError `invalid_arguments` for an unknown step */
function startOf(pipeline: Pipeline, records: ChildRecord[], reference: string): StepPosition {
  const [child = '', step] = reference.split('/', 2);
  const isPaged = records.some((record) => pageHas(record, child));
  // The page's own workflow has its items' records.
  const known: ChildRecord[] = isPaged
    ? [...records, { name: child, status: 'pending', steps: pendingSteps(pipeline.jobs[jobOf(child)]!) }]
    : records;
  if (step === undefined && known.some(({ name, page }) => name === child && !page))
    return { child, step: 1 };
  try {
    const { child: name, position } = chooseStep(known, reference);
    return { child: name, step: position };
  } catch (error) {
    throw error instanceof LonghaulError ? new LonghaulError('invalid_arguments', error.message) : error;
  }
}

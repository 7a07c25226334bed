/**
 * Workflow of every pipeline. Its argument is the parsed file with the inputs, so that an edit of the file doesn't affect
 * operations that have started. Jobs and steps are in one history, not in child workflows: one place to look, and to
 * replay.
 */
import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { RESUME_QUERY } from '../../operations/wire.js';
import { MAX_STEP_RUNS } from '../../pipelines/pipeline.js';
import type { PipelineRun } from '../../pipelines/run.js';
import type { Child } from './child.js';
import { plannedChildren } from './child.js';
import { handleDropHost } from './hosts.js';
import { runJobs } from './jobs.js';
import { partialResult, pipelineResult } from './outputs.js';
import { countStepsOf, showProgress } from './progress.js';
import { planResume, applyResume } from './resume.js';
import { children as showChildren, cleanup, partial, progress } from '../runtime/index.js';

export async function pipeline(run: PipelineRun): Promise<Record<string, unknown>> {
  const children = plannedChildren(run);
  const records = children.map((child) => child.record);
  showChildren(records);
  countStepsOf(records);
  setHandler(RESUME_QUERY, (request) => planResume(run, records, request), {
    description: 'Input of a new operation that resumes this one.',
  });
  handleDropHost();
  if (run.resume) applyResume(run.pipeline, children, run.resume);
  const total = records.reduce((sum, { steps }) => sum + steps.length, 0);
  if (total > MAX_STEP_RUNS) {
    throw ApplicationFailure.nonRetryable(
      `${total} runs of steps: expected at most ${MAX_STEP_RUNS} in one operation; give it shorter lists`,
      'TooManySteps',
    );
  }
  progress({ total });
  showProgress();
  cleanup(async (reason) => {
    for (const child of children) await child.endUnfinished(reason);
  });
  await runJobs(run, children);
  const failed = children.filter((child) => child.failure);
  if (failed.length > 0) {
    const outputs = partialResult(run.pipeline, records);
    if (Object.keys(outputs).length > 0) partial(outputs);
    throw failureOf(failed);
  }
  return pipelineResult(run.pipeline, records);
}

function failureOf(failed: Child[]): ApplicationFailure {
  const [first, ...others] = failed;
  const more = others.length
    ? `\n\nAlso failed: ${others
        .map(({ record }) => record.name)
        .slice(0, 20)
        .join(', ')}`
    : '';
  const { message, type } = first!.failure!;
  return ApplicationFailure.nonRetryable(message + more, type);
}

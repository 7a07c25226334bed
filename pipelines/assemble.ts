/** Makes a pipeline of a file's checked data. */
import { listed } from '../operations/json/counted.js';
import { objectSchema } from '../operations/tool/schema.js';
import type { QueueOptions } from '../operations/tool/queue.js';
import type { Approval, Job, Pipeline, PipelineOutput, Step } from './pipeline.js';
import type { KeyPath } from './yaml/problems.js';
import type { FileJob, FileStep, PipelineFile } from './schema.js';

/** Jobs in a description that the file lacks. */
const NAMED_JOBS = 8;

/** Source text of a value, for numbers where text is expected: `1.10`. */
export type SourceOf = (path: KeyPath) => string | undefined;

export function assemble(file: PipelineFile, name: string, sourceOf: SourceOf): Pipeline {
  return {
    name,
    description:
      file.description ?? `Runs the pipeline ${name}: ${listed(Object.keys(file.jobs), NAMED_JOBS)}.`,
    inputs: objectSchema(file.inputs ?? {}),
    outputs: mapValues(file.outputs, outputOf),
    env: envOf(file.env, [], sourceOf),
    secrets: file.secrets,
    concurrency: file.concurrency,
    priority: file.priority,
    queue: file.queue && queueOf(file.queue),
    timeoutMinutes: file['timeout-minutes'],
    estimateMinutes: file['estimate-minutes'],
    jobs: mapValues(file.jobs, (job, key) => jobOf(job, ['jobs', key], sourceOf)),
  };
}

function queueOf(queue: NonNullable<PipelineFile['queue']>): QueueOptions {
  const waitMinutes = queue['wait-minutes'];
  return {
    name: queue.name,
    concurrency: queue.concurrency,
    perCaller: queue['per-caller'],
    maxWaiting: queue['max-waiting'],
    waitSeconds: waitMinutes === undefined ? undefined : waitMinutes * 60,
  };
}

function jobOf(job: FileJob, path: KeyPath, sourceOf: SourceOf): Job {
  return {
    needs: typeof job.needs === 'string' ? [job.needs] : job.needs,
    if: job.if,
    forEach: job['for-each'],
    env: envOf(job.env, path, sourceOf),
    steps: job.steps.map((step, index) => stepOf(step, index, [...path, 'steps', index], sourceOf)),
    artifacts: job.artifacts,
    outputs: job.outputs,
  };
}

function stepOf(step: FileStep, index: number, path: KeyPath, sourceOf: SourceOf): Step {
  const { retry } = step;
  return {
    name: step.name ?? `step ${index + 1}`,
    run: step.run,
    workingDirectory: step['working-directory'],
    env: envOf(step.env, path, sourceOf),
    timeoutMinutes: step['timeout-minutes'],
    retry: retry && { attempts: retry.attempts, backoffSeconds: retry.backoff },
    idempotent: step.idempotent,
    continueOnError: step['continue-on-error'],
    if: step.if,
    approval: step.approval && approvalOf(step.approval),
  };
}

function approvalOf({ message, fields, approvers, ...more }: NonNullable<FileStep['approval']>): Approval {
  return {
    message,
    fields: fields && objectSchema(fields),
    approvers,
    fourEyes: more['four-eyes'] || undefined,
  };
}

function outputOf(output: PipelineFile['outputs'][string]): PipelineOutput {
  const { value, ...schema } = typeof output === 'string' ? { value: output } : output;
  const [job, key] = value.split('.') as [string, string];
  return { job, key, schema: { type: 'string', ...schema } };
}

function envOf(env: PipelineFile['env'], path: KeyPath, sourceOf: SourceOf): Record<string, string> {
  return mapValues(env, (value, name) =>
    typeof value === 'number' ? (sourceOf([...path, 'env', name]) ?? String(value)) : String(value),
  );
}

function mapValues<From, To>(
  map: Record<string, From>,
  change: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

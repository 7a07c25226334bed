/** Outputs of a pipeline: values that steps wrote, under the file's names and types. */
import { ApplicationFailure } from '@temporalio/workflow';
import { declaredType, readOutput } from '../../pipelines/output-value.js';
import type { Pipeline, PipelineOutput } from '../../pipelines/pipeline.js';
import { childName, type ChildId } from '../../pipelines/run.js';
import type { JobPart } from './job-part.js';

type PartsByJob = ReadonlyMap<string, JobPart[]>;

/** Partial result of a failed pipeline: values that don't fit their type stay text. */
export function partialResult(pipeline: Pipeline, parts: PartsByJob): Record<string, unknown> {
  const lenient = (name: string, text: string | null) => {
    if (text === null) return null;
    const { value, problems, inexact } = readOutput(pipeline.outputs[name]!.schema, text);
    return problems.length > 0 || inexact !== undefined ? text : value;
  };
  return Object.fromEntries(
    Object.entries(outputsOf(pipeline, parts))
      .filter(([, value]) => !Array.isArray(value) || value.some((one) => one !== null))
      .map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((one) => lenient(name, one)) : lenient(name, value),
      ]),
  );
}

/** Outputs as text, by name; a list for a `for-each` job. Outputs that no step wrote are missing. */
function outputsOf(pipeline: Pipeline, parts: PartsByJob): Record<string, string | (string | null)[]> {
  const outputs: Record<string, string | (string | null)[]> = {};
  for (const [name, { job, key }] of Object.entries(pipeline.outputs)) {
    const values = (parts.get(job) ?? []).flatMap((part) => part.outputs(key));
    if (pipeline.jobs[job]?.forEach !== undefined) outputs[name] = values;
    else if (typeof values[0] === 'string') outputs[name] = values[0];
  }
  return outputs;
}

/** Structured result of the tool. @throws ApplicationFailure `BadOutput` for a value that doesn't fit its schema */
export function pipelineResult(pipeline: Pipeline, parts: PartsByJob): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputsOf(pipeline, parts)).map(([name, value]) => {
      const output = pipeline.outputs[name]!;
      if (!Array.isArray(value)) return [name, typed(name, output, value)];
      return [name, value.map((one, at) => (one === null ? null : typed(`${name}[${at}]`, output, one)))];
    }),
  );
}

export const BAD_OUTPUT = 'BadOutput';

/** Checks a child's outputs against the pipeline's schemas. Missing keys are valid. @param writers key -> number of its step, from 1 */
export function outputProblems(
  { outputs, secrets }: Pipeline,
  child: ChildId,
  written: Record<string, string>,
  writers: ReadonlyMap<string, number>,
): string | undefined {
  const steps: (number | undefined)[] = [];
  const misfits = Object.entries(outputs).flatMap(([name, output]) => {
    const text = written[output.key];
    if (output.job !== child.job || text === undefined) return [];
    const { problems, inexact } = readOutput(output.schema, text);
    if (inexact !== undefined) problems.push(inexact);
    if (problems.length === 0) return [];
    steps.push(writers.get(output.key));
    // Values are masked before they leave the step's host.
    if (secrets.length > 0 && text.includes('***')) problems.push('secrets in it are masked as ***');
    return [describe(child.index === undefined ? name : `${name}[${child.index}]`, output, problems)];
  });
  if (misfits.length === 0) return undefined;
  const known = steps.filter((step) => step !== undefined);
  const from = childName(child) + (known.length === steps.length ? `/${Math.min(...known)}` : '');
  return `${misfits.join('; ')}; to write it again, resume from ${from}`;
}

function typed(name: string, output: PipelineOutput, text: string): unknown {
  const { value, problems } = readOutput(output.schema, text);
  if (problems.length > 0)
    throw ApplicationFailure.nonRetryable(describe(name, output, problems), BAD_OUTPUT);
  return value;
}

function describe(name: string, { job, key, schema }: PipelineOutput, problems: string[]): string {
  return `output "${name}" (${job}.${key}), declared as ${declaredType(schema)}: ${problems.join('; ')}`;
}

/** A pipeline's outputs: what its jobs' steps wrote, under the names and types that the file gives. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { ChildRecord } from '../../operations/record.js';
import { check, type JsonSchema } from '../../operations/schema.js';
import type { Pipeline, PipelineOutput } from '../../pipelines/pipeline.js';

/** What there is of the result when not everything has run: values that don't fit their type are left as text. */
export function partialOf(pipeline: Pipeline, records: ChildRecord[]): Record<string, unknown> {
  const lenient = (name: string, text: string | null) => {
    try {
      return text === null ? null : typed(name, pipeline.outputs[name]!, text);
    } catch {
      return text;
    }
  };
  return Object.fromEntries(
    Object.entries(outputsOf(pipeline, records))
      .filter(([, value]) => !Array.isArray(value) || value.some((one) => one !== null))
      .map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((one) => lenient(name, one)) : lenient(name, value),
      ]),
  );
}

/** The texts as they were written; of a job that runs for each, the list of them. Those of steps that wrote none are left out. */
function outputsOf(pipeline: Pipeline, records: ChildRecord[]): Record<string, string | (string | null)[]> {
  const outputs: Record<string, string | (string | null)[]> = {};
  for (const [name, { job, key }] of Object.entries(pipeline.outputs)) {
    const isList = pipeline.jobs[job]?.forEach !== undefined;
    const values = records
      .filter((record) => record.name === job || (isList && record.name.startsWith(`${job}[`)))
      .map(({ outputs: written }) => written?.[key]);
    if (isList) outputs[name] = values.map((value) => value ?? null);
    else if (values[0] !== undefined) outputs[name] = values[0];
  }
  return outputs;
}

/**
 * The tool's structured result.
 *
 * @throws ApplicationFailure `BadOutput` for a value that isn't what the file says
 */
export function resultOf(pipeline: Pipeline, records: ChildRecord[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputsOf(pipeline, records)).map(([name, value]) => {
      const output = pipeline.outputs[name]!;
      if (!Array.isArray(value)) return [name, typed(name, output, value)];
      return [name, value.map((one, at) => (one === null ? null : typed(`${name}[${at}]`, output, one)))];
    }),
  );
}

function typed(name: string, { job, key, schema }: PipelineOutput, text: string): unknown {
  const problems: string[] = [];
  let value: unknown = text;
  if (isRead(schema)) {
    try {
      value = JSON.parse(text);
    } catch {
      problems.push(`expected JSON; got ${JSON.stringify(text.slice(0, 200))}`);
    }
  }
  if (problems.length === 0) problems.push(...check(schema, value, name));
  if (problems.length > 0)
    throw ApplicationFailure.nonRetryable(
      `output "${name}" (${job}.${key}): ${problems.join('; ')}`,
      'BadOutput',
    );
  return value;
}

/** Anything but a string is read from JSON. */
function isRead({ type }: JsonSchema): boolean {
  return type !== undefined && type !== 'string';
}

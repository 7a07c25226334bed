/** Makes a tool of a pipeline. */
import { describe } from '../operations/documentation/describe.js';
import { exampleOf } from '../operations/documentation/example.js';
import type { JsonSchema } from '../operations/tool/schema.js';
import { defineTool, type Tool } from '../operations/tool/index.js';
import { LAST_STEPS_MINUTES, PIPELINE_WORKFLOW, type Pipeline } from './pipeline.js';
import type { PipelineRun } from './run.js';

/** Estimate without past runs and without an estimate in the file. */
const DEFAULT_ESTIMATE_SECONDS = 60;
/** Time to end a pipeline besides its last steps, in seconds: for hosts that don't answer, and for artifacts. */
const ENDING_SECONDS = 600;
/** Maximum length of a value in the result's text, in characters. */
const MAX_SHOWN = 2_000;

/** @throws LonghaulError `invalid_arguments` for a pipeline that `parsePipeline` didn't make */
export function pipelineTool(pipeline: Pipeline): Tool {
  const { description: does, estimateMinutes } = pipeline;
  const returns = returnsOf(pipeline);
  const tool = defineTool({
    name: pipeline.name,
    description: { does, returns: returns || undefined },
    input: pipeline.inputs,
    output: outputSchema(pipeline),
    toText: (output) => textOf(pipeline, output),
    taskSupport: 'optional',
    deadlineSeconds: pipeline.timeoutMinutes * 60,
    cleanupSeconds: cleanupSecondsOf(pipeline),
    priority: pipeline.priority,
    queue: pipeline.queue,
    estimate: { seconds: estimateMinutes === undefined ? DEFAULT_ESTIMATE_SECONDS : estimateMinutes * 60 },
    cleanup: 'running steps are ended, then steps with `if: always` run; finished jobs and artifacts stay.',
    // A failed script has no failure type of its own; you can resume the operation.
    retryableErrors: [],
  });
  // The schema requires no output, and the documentation shows all.
  const outputs = tool.outputSchema!;
  const output = exampleOf({ ...outputs, required: Object.keys(outputs['properties'] as object) });
  const isEstimated = estimateMinutes !== undefined;
  return {
    ...tool,
    isEstimated,
    description: describe({ ...tool, isEstimated }),
    example: tool.example && { ...tool.example, ...(output === undefined ? {} : { output }) },
    workflow: PIPELINE_WORKFLOW,
    toWorkflowArguments: (inputs) => [{ pipeline, inputs } satisfies PipelineRun],
    isPipeline: true,
  };
}

/** Budget for the end: waits for hosts that don't answer, then the last steps of jobs side by side. */
function cleanupSecondsOf({ jobs }: Pipeline): number {
  const lastStepsMinutes = Object.values(jobs).map(({ steps }) =>
    steps
      .filter((step) => step.if === 'always' && step.run)
      .map(({ timeoutMinutes, retry }) => (timeoutMinutes ?? LAST_STEPS_MINUTES) * (retry?.attempts ?? 1))
      .reduce((sum, minutes) => sum + minutes, 0),
  );
  return ENDING_SECONDS + Math.max(0, ...lastStepsMinutes) * 60;
}

/** No output is required: a job may have been skipped, or its steps may have written nothing. */
function outputSchema({ outputs, jobs }: Pipeline): JsonSchema {
  const properties = Object.entries(outputs).map(([name, { job, schema }]) => {
    if (jobs[job]?.forEach === undefined) return [name, schema];
    // Null for an item whose steps wrote nothing.
    return [name, { type: 'array', items: { anyOf: [schema, { type: 'null' }] } }];
  });
  return { type: 'object', properties: Object.fromEntries(properties) as Record<string, JsonSchema> };
}

function returnsOf({ outputs, jobs }: Pipeline): string {
  const each = Object.entries(outputs).map(([name, { job, schema }]) => {
    const items = jobs[job]?.forEach === undefined ? '' : ' (a list)';
    const { description } = schema;
    return `${name}${items}${typeof description === 'string' ? `: ${description.replace(/\.$/, '')}` : ''}`;
  });
  return each.length === 0 ? '' : `${each.join('; ')}.`;
}

function textOf({ name, outputs }: Pipeline, result: Record<string, unknown>): string {
  const lines = Object.keys(outputs)
    .filter((key) => result[key] !== undefined)
    .map((key) => `${key}:${shown(result[key])}`);
  return lines.length === 0 ? `${name} is done.` : lines.join('\n');
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const short =
    text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}... (${text.length} characters in all)` : text;
  return short.includes('\n') ? `\n${short.replace(/^/gm, '  ')}` : ` ${short}`;
}

/** Parses and checks a pipeline's file, and reports every problem with its place. */
import { exampleOf } from '../operations/documentation/example.js';
import { clientFindings, schemaGaps } from '../operations/documentation/gaps.js';
import type { ToolExample } from '../operations/documentation/items.js';
import type { Tool } from '../operations/tool/index.js';
import { assemble } from './assemble.js';
import { checkJobs } from './checks/jobs.js';
import { checkOutputs } from './checks/outputs.js';
import { checkInputs } from './checks/schemas.js';
import { findInScripts, checkScripts } from './checks/scripts.js';
import { checkSteps } from './checks/steps.js';
import { checkVariables } from './checks/variables.js';
import { PIPELINE_HINTS } from './yaml/hints.js';
import { reportIssues } from './yaml/issues.js';
import type { Pipeline } from './pipeline.js';
import type { KeyPath, Report } from './yaml/problems.js';
import { pipelineFile } from './schema.js';
import { pipelineTool } from './tool.js';
import { at } from './values.js';
import { parseYamlFile, readYamlFile, defaultToolName, type ParsedFile } from './yaml/yaml-file.js';

export { formatProblem, type Problem } from './yaml/problems.js';

/** Checks beyond the schema, for keys that depend on each other. They skip problems of form, which the schema reports. */
const CHECKS = [checkInputs, checkVariables, checkJobs, checkSteps, checkScripts, checkOutputs, checkQueue];

function checkQueue(file: unknown, report: Report): void {
  const queue = at(file, 'queue');
  const [concurrency, perCaller] = [at(queue, 'concurrency'), at(queue, 'per-caller')];
  if (typeof concurrency === 'number' && typeof perCaller === 'number' && perCaller > concurrency)
    report(['queue', 'per-caller'], `expected at most concurrency, ${concurrency}; got ${perCaller}`);
}

/** Optional documentation keys -> expected content. */
const DOCUMENTATION = {
  description: 'what the tool does, in a sentence or two',
  'timeout-minutes': 'the maximum duration of the pipeline, in minutes',
  'estimate-minutes': 'how long it usually takes, in minutes',
};

/** Reports gaps in the documentation: the pipeline runs anyway, but its callers have to guess. */
function reportGaps(file: unknown, { inputs }: Pipeline, report: Report): void {
  const missing = (path: KeyPath, expected: string) => report(path, `missing; expected ${expected}`);
  for (const [key, expected] of Object.entries(DOCUMENTATION))
    if (at(file, key) === undefined) missing([key], expected);
  const input = exampleOf(inputs) as ToolExample['input'] | undefined;
  for (const { field, expected } of schemaGaps(inputs, input && { input }, 'inputs')) {
    const [, name] = field.split('inputs.');
    missing(name === undefined ? ['inputs'] : ['inputs', 'properties', name], expected);
  }
}

/** Parses and checks a pipeline. @param text in UTF-8, if bytes @param path for problems; its last part is the default tool name */
export function parsePipeline(text: string | Uint8Array, path: string): ParsedFile<Pipeline> {
  return parseYamlFile(text, path, (data, report) => {
    const parsed = pipelineFile.safeParse(data.value);
    if (!parsed.success) reportIssues(data.value, parsed.error.issues, report, PIPELINE_HINTS);
    for (const check of CHECKS) check(data.value, report);
    const fileName = defaultToolName(data.value, path, report);
    if (!parsed.success) return undefined;
    return (reportGap, reportFinding) => {
      const { name = fileName } = parsed.data;
      const pipeline = assemble(parsed.data, name, (keyPath) => data.sourceOf(keyPath));
      // Refuses what no tool can have.
      const { inputSchema } = pipelineTool(pipeline);
      reportGaps(data.value, pipeline, reportGap);
      findInScripts(data.value, path, reportFinding);
      for (const { path: keys, message } of clientFindings(inputSchema))
        reportFinding(['inputs', ...keys], message, 'key');
      return pipeline;
    };
  });
}

/** Reads and parses a file. An unreadable file gives a problem. */
export function parsePipelineFile(path: string): ParsedFile<Pipeline> {
  return readYamlFile(path, parsePipeline);
}

/** Like {@link parsePipelineFile}, but gives the pipeline's tool. */
export function parsePipelineTool(path: string): ParsedFile<Tool> {
  return readYamlFile(path, (bytes, name) => {
    const { value, ...parsed } = parsePipeline(bytes, name);
    return { ...parsed, ...(value ? { value: pipelineTool(value) } : {}) };
  });
}

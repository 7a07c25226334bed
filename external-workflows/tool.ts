/** Makes a tool of its checked file. */
import { defined } from '../operations/json/defined.js';
import { describe } from '../operations/documentation/describe.js';
import {
  argumentsOf,
  type ArgumentList,
  type ExternalWorkflow,
  type QuestionMapping,
} from '../operations/wire/external-workflow.js';
import { NEXUS_WORKFLOW, type NexusCall } from '../operations/wire/nexus-call.js';
import { objectSchema, type JsonSchema } from '../operations/tool/schema.js';
import { defineForeignTool, type Tool, type ToolOptions } from '../operations/tool/index.js';
import type { FileArguments, ToolFile } from './schema.js';

/** Estimate without past runs and without an estimate in the file. */
const DEFAULT_ESTIMATE_SECONDS = 60;

const APPROVAL: JsonSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
  additionalProperties: false,
};

/** @throws LonghaulError `invalid_arguments` with a line for each problem of its schemas */
export function externalTool(file: ToolFile, name: string): Tool {
  const args = argumentList(file.args);
  const { workflow, nexus } = file;
  const tool = defineExternal(file, {
    name,
    description: descriptionOf(file),
    input: objectSchema(file.input ?? {}),
    ...defined({ title: file.title, output: file.output && outputSchema(file.output) }),
    cleanup: nexus ? NEXUS_CLEANUP : "the workflow's own code decides what is undone; it may still complete.",
  });
  if (workflow)
    return {
      ...tool,
      workflow: workflow.type,
      external: externalWorkflowOf(file, workflow),
      toWorkflowArguments: (values) => argumentsOf(args, values),
    };
  const { endpoint, service, operation } = nexus!;
  return nexusTool(
    tool,
    { endpoint, service, operation: operation! },
    (values) => argumentsOf(args, values)[0],
  );
}

export const NEXUS_CLEANUP = 'the operation is asked to stop, and decides what is undone.';

/** Lets the tool call a Nexus operation. @param inputOf makes the operation's input of a call's arguments */
export function nexusTool(
  tool: Tool,
  called: Omit<NexusCall, 'input'>,
  inputOf: (values: Record<string, unknown>) => unknown,
): Tool {
  return {
    ...tool,
    workflow: NEXUS_WORKFLOW,
    toWorkflowArguments: (values) => [{ ...called, input: inputOf(values) } satisfies NexusCall],
  };
}

/** Defines a tool with its file's limits. @throws LonghaulError `invalid_arguments` */
export function defineExternal(
  file: Pick<ToolFile, 'timeout-minutes' | 'estimate-minutes' | 'retryable-errors'>,
  options: Omit<ToolOptions<JsonSchema, JsonSchema>, 'estimate'>,
): Tool {
  const estimateMinutes = file['estimate-minutes'];
  const isEstimated = estimateMinutes !== undefined;
  const tool = defineForeignTool({
    ...options,
    deadlineSeconds: file['timeout-minutes'] * 60,
    estimate: { seconds: isEstimated ? estimateMinutes * 60 : DEFAULT_ESTIMATE_SECONDS },
    // Temporal's own time-out goes on while a person is asked.
    questions: {},
    retryableErrors: file['retryable-errors'],
  });
  return { ...tool, isEstimated, description: describe({ ...tool, isEstimated }) };
}

function externalWorkflowOf(file: ToolFile, workflow: NonNullable<ToolFile['workflow']>): ExternalWorkflow {
  const { progress, question, cancel, adopt } = file;
  return {
    type: workflow.type,
    taskQueue: workflow['task-queue'],
    namespace: workflow.namespace,
    id: workflow.id,
    progress: progress && {
      from: progress.query === undefined ? 'heartbeats' : { query: progress.query },
      fields: defined(progress.map),
    },
    question: question && questionOf(question),
    cancelSignal: cancel === 'request' ? undefined : { name: cancel.signal, args: cancel.args },
    adopt: adopt === false ? undefined : { list: adopt === true ? undefined : adopt.list },
  };
}

function questionOf(question: NonNullable<ToolFile['question']>): QuestionMapping {
  const { query, message, key, fields, approvers, answer } = question;
  return {
    ...{ query, message, key, approvers },
    fourEyes: question['four-eyes'],
    schema: fields ? objectSchema(fields) : APPROVAL,
    answer: {
      by: answer.update === undefined ? 'signal' : 'update',
      name: (answer.update ?? answer.signal)!,
      args: argumentList(answer.args),
      decline: answer.decline,
    },
  };
}

function argumentList(args: FileArguments | undefined): ArgumentList {
  if (args === undefined) return 'object';
  return Array.isArray(args) ? args : [args];
}

function descriptionOf({ description, workflow, nexus }: ToolFile) {
  if (description === undefined)
    return {
      does: workflow
        ? `Runs the workflow ${workflow.type}.`
        : `Runs the operation ${nexus?.operation} of ${nexus?.service}.`,
    };
  if (typeof description === 'string') return { does: description };
  const { does, returns } = description;
  return { does, ...defined({ useWhen: description['use-when'], returns }) };
}

/** Schema of the object that {@link structuredResult} makes of a non-object result. */
export function outputSchema(schema: JsonSchema): JsonSchema {
  if (schema['type'] === 'object' || (schema['type'] === undefined && schema['properties'] !== undefined))
    return { ...schema, type: 'object' };
  return { type: 'object', properties: { result: schema }, required: ['result'] };
}

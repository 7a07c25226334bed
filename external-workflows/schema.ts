/** Keys of the file of a tool over an external workflow. The editor schema and the table in docs/bring-your-own.md come from it. */
import { z } from 'zod';
import { jsonSchema, flag, minutes, text, toolName } from '../pipelines/json-schema.js';

const PATH = 'expected the path of a field, such as `stage` or `order.step`; `.` is the whole value';
const path = text(PATH).regex(/^(\.|[^.\s]+(\.[^.\s]+)*)$/, PATH);
const literals = z.array(z.unknown(), { error: 'expected a list of values' });

const ARGUMENT = 'expected the name of an input, or a map of fields and inputs';
const argument = z.union([text(ARGUMENT), z.record(z.string(), text('expected the name of an input'))], {
  error: ARGUMENT,
});
const args = z.union(
  [
    z.array(argument, { error: 'expected a list' }),
    z.record(z.string(), text('expected the name of an input')),
  ],
  { error: 'expected a list of inputs, in order, or a map of fields and inputs for one object' },
);

const workflow = z.strictObject(
  {
    type: text('expected the type of a workflow').meta({ description: 'Workflow type.' }),
    'task-queue': text('expected the name of a task queue').meta({
      description: 'Task queue of its workers.',
    }),
    namespace: text('expected the name of a namespace').optional().meta({
      description: 'Namespace on the connected Temporal. Default: the one that Longhaul is connected to.',
    }),
    id: text('expected a workflow ID').max(200, 'expected at most 200 characters').optional().meta({
      description:
        'Workflow ID, with inputs in braces: `refund-{order_id}`. With authentication, the tenant and a slash come before it. A start whose ID is in use is refused. Default: the token of the operation.',
    }),
  },
  { error: 'expected a map such as `{ type: RefundWorkflow, task-queue: refunds }`' },
);

const nexus = z.strictObject(
  {
    endpoint: text('expected the name of a Nexus endpoint').meta({
      description: 'Nexus endpoint in the connected Temporal.',
    }),
    service: text('expected the name of a service').meta({ description: 'Nexus service.' }),
    operation: text('expected the name of an operation').optional().meta({
      description:
        'Operation of the service; its input is one object. Default: all tools that the service lists by its operation `list_tools`.',
    }),
  },
  { error: 'expected a map such as `{ endpoint: payments, service: refunds, operation: refund }`' },
);

const progressMap = z.strictObject(
  {
    progress: path.optional().meta({ description: 'Where the number of finished units is.' }),
    total: z
      .union([path, z.number({ error: PATH }).positive('expected a number above 0')], {
        error: 'expected the path of a field, or the total itself',
      })
      .optional()
      .meta({ description: 'Where the total is, or the total itself: `100` for percent.' }),
    stage: path.optional().meta({ description: 'Where the current stage is.' }),
    message: path.optional().meta({ description: 'Where a line for people is.' }),
  },
  { error: 'expected a map such as `{ progress: done, total: total, stage: step }`' },
);

const progress = z.strictObject(
  {
    query: text('expected the name of a query')
      .optional()
      .meta({ description: 'Query without arguments that gives the progress.' }),
    heartbeats: z
      .literal(true, { error: 'expected true' })
      .optional()
      .meta({ description: 'Instead of a query: the heartbeats of activities give it.' }),
    map: progressMap.meta({ description: 'Where the fields are in that value.' }),
  },
  { error: 'expected a map such as `{ query: getProgress, map: { progress: done } }`' },
);

const answer = z.strictObject(
  {
    update: text('expected the name of an update')
      .optional()
      .meta({ description: 'Update that takes the answer. Exactly one of two racing answers is accepted.' }),
    signal: text('expected the name of a signal').optional().meta({
      description: 'Instead of an update: signal that takes the answer.',
    }),
    args: args.optional().meta({
      description: 'Its arguments, from the fields of the answer. Default: one object with all fields.',
    }),
    decline: literals.optional().meta({
      description: 'Its arguments when the person declines. Default: a decline is refused.',
    }),
  },
  { error: 'expected a map such as `{ update: approve }` or `{ signal: decide }`' },
);

const question = z.strictObject(
  {
    query: text('expected the name of a query').meta({
      description:
        'Query without arguments that gives the open question, a list of questions, or nothing: null, false, an empty text, list or map.',
    }),
    message: path.optional().meta({
      description:
        "Where a question's text is. Default: `message`, `prompt`, `question`, `text` or `title`, else the whole value.",
    }),
    key: path.optional().meta({
      description:
        'Where the identity of a question is, unique in a run. Needed where several questions may be open at once.',
    }),
    fields: jsonSchema.optional().meta({
      description:
        'Form of the answer: the JSON Schema of a flat object, with `properties`. Default: a required `approved`, true or false.',
    }),
    answer: answer.meta({ description: 'How the workflow is answered.' }),
    approvers: z
      .array(text('expected the name of a role'), { error: 'expected a list of roles' })
      .min(1, 'expected at least one role')
      .optional()
      .meta({ description: 'Roles of which a caller needs one. Default: anyone who may see the operation.' }),
    'four-eyes': flag
      .default(false)
      .meta({ description: 'Whether the caller who started the operation may not answer.' }),
  },
  { error: 'expected a map such as `{ query: pendingApproval, answer: { update: approve } }`' },
);

const cancelSignal = z.strictObject(
  {
    signal: text('expected the name of a signal').meta({ description: 'Signal that cancels the work.' }),
    args: literals.default([]).meta({ description: 'Its arguments.' }),
  },
  { error: 'expected `request`, or a map such as `{ signal: cancelOrder }`' },
);

const adopt = z.strictObject(
  {
    list: text('expected a visibility query').optional().meta({
      description:
        "Temporal's list filter of runs that `operation_list` shows too: `StartTime > '2026-01-01T00:00:00Z'`. Default: none; runs are adopted one by one.",
    }),
  },
  { error: 'expected true, or a map such as `{ list: ... }`' },
);

const description = z.strictObject(
  {
    does: text('expected a sentence or two').meta({ description: 'What the tool does.' }),
    'use-when': text('expected a sentence')
      .optional()
      .meta({ description: 'When a model should choose it, and when not.' }),
    returns: text('expected a sentence').optional().meta({ description: 'Description of the result.' }),
  },
  { error: 'expected a sentence, or a map such as `{ does: Refunds an order. }`' },
);

export const toolFile = z
  .strictObject(
    {
      name: toolName,
      title: text('expected a name').optional().meta({ description: 'Display name.' }),
      description: z
        .union([text('expected a sentence or two'), description], {
          error: 'expected a sentence, or a map such as `{ does: Refunds an order. }`',
        })
        .optional()
        .meta({ description: 'What the tool does, for people and models.' }),
      workflow: workflow.optional().meta({ description: 'The workflow.' }),
      nexus: nexus.optional().meta({ description: 'Instead of a workflow: a Nexus operation.' }),
      input: jsonSchema.optional().meta({
        description: "The tool's arguments: the JSON Schema of an object, with `properties` and `required`.",
      }),
      args: args.optional().meta({
        description:
          "The workflow's arguments: inputs in order, `[order_id, amount]`, or the fields of one object, `{ id: order_id }`. Default: one object with all inputs.",
      }),
      output: jsonSchema.optional().meta({
        description: 'JSON Schema of the result. One that is no object becomes the field `result`.',
      }),
      'timeout-minutes': minutes.default(1440).meta({
        description: 'Maximum duration, in all: Temporal itself ends the workflow then.',
      }),
      'estimate-minutes': minutes.optional().meta({
        description: 'Usual duration, until there are past runs to estimate from; fractions are allowed.',
      }),
      'retryable-errors': z
        .array(text('expected the type of a failure'), { error: 'expected a list of types of failures' })
        .default([])
        .meta({
          description:
            'Types of failures (the type of an ApplicationFailure, or the name of the exception) after which a new call may succeed.',
        }),
      progress: progress
        .optional()
        .meta({ description: "Where progress comes from. Default: Temporal's view." }),
      question: question.optional().meta({ description: 'Questions that the workflow waits for.' }),
      cancel: z
        .union([z.literal('request'), cancelSignal], {
          error: 'expected `request`, or a map such as `{ signal: cancelOrder }`',
        })
        .default('request')
        .meta({ description: "How the work is cancelled: Temporal's cancel request, or a signal." }),
      adopt: z
        .union([flag, adopt], { error: 'expected true, or a map such as `{ list: ... }`' })
        .default(false)
        .meta({
          description:
            'Whether runs of this workflow type that were started elsewhere can become operations.',
        }),
    },
    { error: 'expected a tool: a map with `workflow` or `nexus`' },
  )
  .meta({ title: 'Longhaul tool over an external workflow' });

export type ToolFile = z.output<typeof toolFile>;
export type FileArguments = z.output<typeof args>;

/** The language's closed maps, by key path. */
export const LEVELS: Record<string, z.ZodObject> = {
  '': toolFile,
  description,
  workflow,
  nexus,
  progress,
  'progress.map': progressMap,
  question,
  'question.answer': answer,
  cancel: cancelSignal,
  adopt,
};

/** JSON Schema of a tool's file, for editors: draft 7, which all of them know. */
export function toolEditorSchema(): Record<string, unknown> {
  return z.toJSONSchema(toolFile, { target: 'draft-7', io: 'input' });
}

/** The language of pipelines. The editor schema and the table of keys in docs/pipelines-language.md come from it. */
import { z } from 'zod';
import { MAX_CONCURRENCY, MAX_WAIT_SECONDS, MAX_WAITING, PRIORITIES } from '../operations/tool/queue.js';
import { jsonSchema, flag, minutes, minutesUpTo, text, toolName } from './json-schema.js';
import { NAME, VARIABLE } from './names.js';

export const MAX_JOBS = 1_000;
export const MAX_STEPS = 200;

const nameOf = (what: string) => {
  const expected = `expected ${what}: a letter or _, then letters, digits, _ or -, at most 64 characters`;
  return z.string({ error: expected }).regex(NAME, expected);
};
const VARIABLE_NAME = 'expected the name of a variable: a letter or _, then letters, digits or _';
const variableName = z.string({ error: VARIABLE_NAME }).regex(VARIABLE, VARIABLE_NAME);

const list = <Item extends z.ZodType>(item: Item, expected: string) => z.array(item, { error: expected });
const whole = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  return z.int({ error: expected }).min(least, expected).max(most, expected);
};

const condition = z.enum(['success', 'failure', 'always'], {
  error: 'expected success, failure or always',
});

const ENV = 'expected a map of names and values';
const env = z.record(
  variableName,
  z.union([z.string(), z.number(), z.boolean()], { error: 'expected text, a number, true or false' }),
  { error: ENV },
);

const retry = z.strictObject(
  {
    attempts: whole(1, 100).describe('Maximum number of runs of the step, the first included: 1 to 100.'),
    backoff: z
      .number({ error: 'expected seconds from 0 to 3600' })
      .min(0, 'expected seconds from 0 to 3600')
      .max(3600, 'expected seconds from 0 to 3600')
      .default(5)
      .describe('Seconds before the second attempt; doubled before each further one, up to an hour.'),
  },
  { error: 'expected a map such as `{ attempts: 3, backoff: 10 }`' },
);

const approval = z.strictObject(
  {
    message: text('expected a question').describe('The question for the person.'),
    fields: jsonSchema
      .optional()
      .describe(
        'Form for the person: the JSON Schema of a flat object, with `properties`. Answers come as APPROVAL_* variables.',
      ),
    approvers: list(text('expected the name of a role'), 'expected a list of roles')
      .min(1, 'expected at least one role')
      .optional()
      .describe('Roles of which a caller needs one to answer. Default: anyone who may see the operation.'),
    'four-eyes': flag
      .default(false)
      .describe('Whether callers who started the pipeline, or changed its arguments, may not answer.'),
  },
  { error: 'expected a map such as `{ message: Deploy? }`' },
);

const step = z.strictObject(
  {
    name: text('expected a name')
      .max(200, 'expected a name of at most 200 characters')
      .regex(/^\P{Cc}*$/u, 'expected a name of one line')
      .optional()
      .describe('Name for people, `longhaul logs` and `longhaul resume`. Default: `step 3`.'),
    run: text('expected a script')
      .optional()
      .describe('Script for `bash -eo pipefail`. A step without one only asks for approval.'),
    'working-directory': text('expected a folder of the workspace')
      .optional()
      .describe('Folder that the script runs in, relative to the workspace.'),
    env: env.default({}).describe('Variables of this step.'),
    'timeout-minutes': minutes.optional().describe('Maximum duration of one attempt; fractions are allowed.'),
    retry: retry.optional().describe('Retry when the script exits with a code other than 0.'),
    idempotent: flag
      .default(false)
      .describe('Whether it may run again, without asking, after its worker died half-way.'),
    'continue-on-error': flag
      .default(false)
      .describe('Continue, and let the job succeed, when this step fails.'),
    if: condition
      .default('success')
      .describe(
        'Run when the earlier steps of the job succeeded, when one of them failed (also one with `continue-on-error`), or in any case.',
      ),
    approval: approval.optional().describe('Ask a person before the step runs.'),
  },
  { error: 'expected a step: a map with `run` or `approval`' },
);

const reference = text('expected `job.key`').regex(
  /^[^.\s]+\.[^.\s]+$/,
  'expected `job.key`: a job, and a key of its outputs',
);

const output = jsonSchema
  .extend({
    value: reference.describe('`job.key`: a job, and a key of its outputs.'),
  })
  .describe(
    'Which output of a job it is, and the JSON Schema of its value; of one value when the job has `for-each`. Default: text.',
  );

const job = z.strictObject(
  {
    needs: z
      .union([z.string(), z.array(z.string({ error: 'expected the name of a job' }))], {
        error: 'expected a job, or a list of jobs',
      })
      .default([])
      .describe('Jobs that must end first. Their artifacts are under $LONGHAUL_ARTIFACTS/JOB/.'),
    if: condition
      .default('success')
      .describe('Run when the jobs in `needs` succeeded, when one of them failed, or in any case.'),
    'for-each': text('expected the name of an input that is a list')
      .optional()
      .describe(
        'Name of an input that is a list: the job runs for each item, side by side. The item is $LONGHAUL_ITEM, its position, from 0, $LONGHAUL_ITEM_INDEX.',
      ),
    env: env.default({}).describe('Variables of all steps of this job.'),
    steps: list(step, 'expected a list of steps')
      .min(1, 'expected at least one step')
      .max(MAX_STEPS, `expected at most ${MAX_STEPS} steps`)
      .describe(`Run one after another in one workspace; at most ${MAX_STEPS}.`),
    artifacts: list(text('expected a path or pattern'), 'expected a list of paths and patterns')
      .default([])
      .describe('Files to keep once the steps have ended: paths and glob patterns in the workspace.'),
    outputs: list(nameOf('a key'), 'expected a list of the keys that steps write to $LONGHAUL_OUTPUT')
      .default([])
      .describe('Keys that steps write to $LONGHAUL_OUTPUT.'),
  },
  { error: 'expected a job: a map with `steps`' },
);

const queue = z.strictObject(
  {
    name: nameOf('a name')
      .optional()
      .describe(
        "Tools with queues of the same name share it, and must declare the same limits. Default: the tool's name.",
      ),
    concurrency: whole(1, MAX_CONCURRENCY).describe(
      `Runs of the pipeline at once, over all hosts: 1 to ${MAX_CONCURRENCY}.`,
    ),
    'per-caller': whole(1, MAX_CONCURRENCY)
      .optional()
      .describe('Runs of one caller at once. Default: `concurrency`.'),
    'max-waiting': whole(0, MAX_WAITING)
      .optional()
      .describe(`Runs that may wait; further calls are refused. 0: none waits. Default: ${MAX_WAITING}.`),
    'wait-minutes': minutesUpTo(MAX_WAIT_SECONDS / 60)
      .optional()
      .describe('How long a run may wait for its turn; then it fails. Default: 1440.'),
  },
  { error: 'expected a map such as `{ concurrency: 2 }`' },
);

export const pipelineFile = z
  .strictObject(
    {
      name: toolName,
      description: text('expected a sentence or two')
        .optional()
        .describe('What the tool does, for people and models.'),
      inputs: jsonSchema
        .optional()
        .describe(
          "The tool's arguments: the JSON Schema of an object, with `properties` and `required`. They come as INPUT_* variables and, whole, in the file $LONGHAUL_INPUTS.",
        ),
      outputs: z
        .record(
          nameOf('a name'),
          z.union([reference, output], { error: 'expected `job.key`, or a map with `value: job.key`' }),
          {
            error: 'expected a map of names and `job.key`',
          },
        )
        .default({})
        .describe("The tool's structured result: a name, and `job.key` or a map."),
      env: env.default({}).describe('Variables of all steps.'),
      secrets: list(variableName, 'expected a list of names')
        .default([])
        .describe(
          "Names of secrets. NAME is set on the worker as LONGHAUL_SECRET_NAME, and is the steps' variable NAME; not PATH or others that steps need.",
        ),
      concurrency: whole(1, 200)
        .default(32)
        .describe('Maximum number of jobs, and items of for-each, that run side by side: 1 to 200.'),
      priority: whole(PRIORITIES.first, PRIORITIES.last)
        .optional()
        .describe(
          'Which operations workers take first while they are busy: 1, the first, to 5, the last. Default: 3.',
        ),
      queue: queue
        .optional()
        .describe(
          'How many runs of the pipeline work at once; others wait for their turn. Default: all run.',
        ),
      'timeout-minutes': minutes
        .default(1440)
        .describe('Maximum duration of the pipeline, not counting the time that people take to answer.'),
      'estimate-minutes': minutes
        .optional()
        .describe('Usual duration, until there are past runs to estimate from; fractions are allowed.'),
      jobs: z
        .record(nameOf('the name of a job'), job, {
          error: 'expected a map of names and jobs',
        })
        .meta({
          description: `The jobs by name, at most ${MAX_JOBS}. Jobs that don't need each other run side by side.`,
          minProperties: 1,
          maxProperties: MAX_JOBS,
        }),
    },
    { error: 'expected a pipeline: a map with `jobs`' },
  )
  .meta({ title: 'Longhaul pipeline' });

export type PipelineFile = z.output<typeof pipelineFile>;
export type FileJob = PipelineFile['jobs'][string];
export type FileStep = FileJob['steps'][number];

export const LEVELS = {
  pipeline: pipelineFile.shape,
  job: job.shape,
  step: step.shape,
  retry: retry.shape,
  approval: approval.shape,
  queue: queue.shape,
  output: { value: output.shape.value },
  schema: jsonSchema.shape,
} as const;

export type Level = keyof typeof LEVELS;

/** JSON Schema of a pipeline's file, for editors: draft 7, which all of them know. */
export function editorSchema(): Record<string, unknown> {
  return z.toJSONSchema(pipelineFile, { target: 'draft-7', io: 'input' });
}

/** Tool definitions: authors write them, and loading validates them. */
import {
  DEFAULT_CLEANUP_SECONDS,
  DEFAULT_INPUT_WAIT_SECONDS,
  DEFAULT_KEEP_ALIVE_SECONDS,
} from './budgets.js';
import { closed, propertyNames } from './schema-references.js';
import { describe, summarize } from '../documentation/describe.js';
import { exampleOf } from '../documentation/example.js';
import { documentationGaps } from '../documentation/gaps.js';
import type { DescriptionParts, Gap, ToolExample } from '../documentation/items.js';
import { LonghaulError } from '../errors.js';
import type { ExternalWorkflow } from '../wire/external-workflow.js';
import { isObject } from '../json/is-object.js';
import {
  assertFlat,
  check,
  toJsonSchema,
  usableSchema,
  type AnySchema,
  type Infer,
  type JsonSchema,
} from './schema.js';
import { estimateArguments, type ToolEstimate } from './estimate.js';
import { completeQueue, type QueueOptions, type ToolQueue } from './queue.js';
import { optionProblems, TOOL_OPTIONS, type OptionForm } from './options.js';

export type { DescriptionParts } from '../documentation/items.js';

/** Argument names that no tool may declare. Every call may have `idempotency_key`; calls to long-running tools have the others. */
export const RESERVED_ARGUMENTS = ['wait', 'timeout', 'idempotency_key'] as const;

export const OPERATION_TOOL_PREFIX = 'operation_';

/** MCP's keyword for arguments that clients repeat as headers (specs: 2026-07-28 streamable-http); not supported. */
const HEADER_KEYWORD = 'x-mcp-header';

/** Hint for schemas that JSON Schema can't express. */
const PLAIN_SCHEMA_HINT = '; use a plain schema, and transform in the workflow or an activity';

export interface ToolOptions<Input extends AnySchema, Output extends AnySchema> {
  /** Name of the tool and its workflow: a letter, then letters, digits and `_`; at most 64 characters. */
  name: string;
  /** Display name. Default: the name, with spaces for `_`. */
  title?: string;
  description: DescriptionParts;
  /**
   * Schema of the arguments: an object, zod or JSON Schema. Refuses unnamed arguments, unless it has `additionalProperties` (zod:
   * `z.looseObject`), `unevaluatedProperties`, `allOf` or `$ref`.
   */
  input: Input;
  /** Schema of the result: zod or JSON Schema, of an object. */
  output?: Output;
  /** Renders the result for clients that show only text. Default: its JSON. */
  toText?: (output: Infer<Output>) => string;
  /**
   * Whether a call becomes a task, or another protocol's equivalent. `optional`: if the client supports it. `required`: always; see
   * `withoutTasks`. `forbidden`: never, since the work is short enough to wait for. Default: `optional`.
   */
  taskSupport?: 'optional' | 'required' | 'forbidden';
  /**
   * With `taskSupport: 'required'`: behaviour for clients without tasks, operation tokens or two-stage returns. `hidden`: they don't see
   * the tool, and a call is an invalid request (-32600). `plain`: the plain contract. Default: an error if the client's MCP version has
   * tasks, or else the plain contract.
   */
  withoutTasks?: 'hidden' | 'plain';
  /** Whether the work is short enough for a plain call to wait. Default: false. */
  wait?: boolean;
  /** How long a waiting call waits by default, in seconds. Default: 600. */
  timeoutSeconds?: number;
  /** Published maximum duration of the work, in seconds, without time for answers. Default: 24 hours. */
  deadlineSeconds?: number;
  /** Budget for stopping and cleaning up after the maximum duration, in seconds. Default: 300. */
  cleanupSeconds?: number;
  /** Maximum time for people to answer all questions of an operation, in seconds. Default: 30 days. Not for tools with `questions: {}`. */
  inputWaitSeconds?: number;
  /** Estimated duration until there are past runs, and the arguments that it depends on. */
  estimate: ToolEstimate;
  /** How long after closing the result can be read, in seconds. Default: 24 hours. Bounded by Temporal's retention. */
  keepAliveSeconds?: number;
  /** Sentence for the description: what cancel and time-out clean up, and what stays. */
  cleanup?: string;
  /** Types of failures (Temporal's ApplicationFailure type, or the error's name) after which a new call may succeed. */
  retryableErrors?: string[];
  /** Which operations busy workers take first: 1, the first, to 5, the last. Default: 3. */
  priority?: number;
  /** How many of the tool's operations run at once; others wait for their turn. Default: all run. */
  queue?: QueueOptions;
  /** Example call for the documentation. Default: the simplest that the schemas allow. */
  example?: { input: Record<string, unknown>; output?: Infer<Output> };
  /** Questions for arguments that a call lacks, by argument, asked before the operation starts. Needs a client with elicitation. */
  askFor?: Record<string, string>;
  /**
   * Schemas of the workflow's input requests, validated at load time: flat objects. `{}` declares that it asks nothing: Temporal itself
   * then ends operations after the maximum duration and the cleanup's budget.
   */
  questions?: Record<string, AnySchema>;
  /** MCP's hints about the tool's behaviour (specs: 2026-07-28 server/tools). */
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
}

const OPTIONS: Record<keyof ToolOptions<JsonSchema, JsonSchema>, OptionForm> = TOOL_OPTIONS;

export interface Tool {
  name: string;
  /** Workflow type that does the work: the tool's name, unless several tools share a workflow. */
  workflow: string;
  /** Converts a call's arguments to the workflow's. Passes them on as one, unless several tools share the workflow or it is external. */
  toWorkflowArguments: (args: Record<string, unknown>) => unknown[];
  /** Set if workers without Longhaul's runtime run the workflow. */
  external: ExternalWorkflow | undefined;
  /** Whether it's a pipeline: jobs with steps, each with a log. */
  isPipeline: boolean;
  title: string;
  /** Its purpose, when to use it, and what it returns. */
  summary: string;
  /** Description in lists of tools; each protocol adds a line about its use. */
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema | undefined;
  toText: (output: unknown) => string;
  taskSupport: 'optional' | 'required' | 'forbidden';
  withoutTasks: 'hidden' | 'plain' | undefined;
  wait: boolean;
  timeoutSeconds: number;
  deadlineSeconds: number;
  cleanupSeconds: number;
  inputWaitSeconds: number;
  estimate: ToolEstimate;
  isEstimated: boolean;
  keepAliveSeconds: number;
  /** Cleanup after cancel and time-out, if its author described it. */
  cleanup: string | undefined;
  retryableErrors: string[];
  /** 1 to 5; undefined for the default. */
  priority: number | undefined;
  /** Undefined if all operations run at once. */
  queue: ToolQueue | undefined;
  /** Undefined if its author gave none and the schemas allow none. */
  example: ToolExample | undefined;
  gaps: Gap[];
  askFor: Record<string, string>;
  questions: Record<string, JsonSchema>;
  annotations: ToolOptions<JsonSchema, JsonSchema>['annotations'];
  /** For type inference only, see {@link defineTool}; never set. */
  types?: { input: unknown; output: unknown };
}

/** Type of a tool's arguments, after defaults: `ToolInput<typeof brew>`. */
export type ToolInput<T> = T extends { types?: { input: infer I } } ? I : never;
/** Type of a tool's result: `ToolOutput<typeof brew>`. */
export type ToolOutput<T> = T extends { types?: { output: infer O } } ? O : never;

/**
 * Defines a tool.
 *
 * @example
 * export default defineTool({
 *   name: 'brew',
 *   description: { does: 'Brews coffee.' },
 *   input: z.object({ cups: z.number().int().min(1).max(12) }),
 *   output: z.object({ cups: z.number() }),
 *   estimate: { seconds: 60, per: { argument: 'cups', seconds: 20 } },
 * });
 *
 * @throws LonghaulError `invalid_arguments` that names the tool and the field; a line for each problem
 */
export function defineTool<const Input extends AnySchema, const Output extends AnySchema = JsonSchema>(
  options: ToolOptions<Input, Output>,
): Tool & { types?: { input: Infer<Input>; output: Infer<Output> } } {
  return define(options, closed);
}

/** Like {@link defineTool}, for arguments that another system checks: unnamed ones are passed on. */
export function defineForeignTool(options: ToolOptions<JsonSchema, JsonSchema>): Tool {
  return define(options, (schema) => schema);
}

function define<Input extends AnySchema, Output extends AnySchema>(
  options: ToolOptions<Input, Output>,
  inputOf: (schema: JsonSchema) => JsonSchema,
): Omit<Tool, 'types'> {
  const fail = (...problems: string[]): never => {
    const lines = problems.map((problem) => `tool ${JSON.stringify(options.name)}: ${problem}`);
    throw new LonghaulError('invalid_arguments', lines.join('\n'));
  };
  if (typeof options.name !== 'string' || !/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(options.name)) {
    fail('name: expected a letter, then letters, digits or _, at most 64 characters');
  }
  if (options.name.startsWith(OPERATION_TOOL_PREFIX))
    fail(`name: names that begin with ${OPERATION_TOOL_PREFIX} are Longhaul's own; choose another`);
  const formProblems = optionProblems(options, OPTIONS);
  if (formProblems.length) fail(...formProblems);
  if (!options.description?.does) fail('description.does: expected a sentence; got nothing');
  if (!options.estimate) fail('estimate: expected { seconds }; got nothing');
  const convert = (field: string, schema: AnySchema, direction: 'input' | 'output' = 'input'): JsonSchema => {
    try {
      // Arguments and answers reach the workflow unchanged, so a transform would never run.
      if (direction === 'input') toJsonSchema(schema, 'output');
      return toJsonSchema(schema, direction);
    } catch (error) {
      const { message } = error as Error;
      return fail(`${field}: ${message}${/cannot be represented/.test(message) ? PLAIN_SCHEMA_HINT : ''}`);
    }
  };
  const usable = (field: string, schema: JsonSchema) =>
    usableSchema(schema, `tool ${JSON.stringify(options.name)}: ${field}`);
  const objectSchema = (field: 'input' | 'output', schema: AnySchema): JsonSchema => {
    const json = convert(field, schema, field);
    if (json['type'] !== 'object') fail(`${field}: expected the schema of an object; got ${typeIn(json)}`);
    return usable(field, json);
  };
  const inputSchema = inputOf(objectSchema('input', options.input));
  const outputSchema = options.output && objectSchema('output', options.output);
  if (options.withoutTasks !== undefined && options.taskSupport !== 'required')
    fail(`withoutTasks: belongs to taskSupport "required"; got ${options.taskSupport ?? 'none'}`);
  const properties = (inputSchema['properties'] ?? {}) as Record<string, JsonSchema>;
  const names = propertyNames(inputSchema);
  for (const reserved of RESERVED_ARGUMENTS) {
    if (names.has(reserved))
      fail(`input.${reserved}: the name is reserved for every tool's calls; choose another`);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (isObject(property) && HEADER_KEYWORD in property)
      fail(`input.${name}.${HEADER_KEYWORD}: arguments are not taken from headers here; remove it`);
  }
  const { concurrency = 0, perCaller = 0 } = options.queue ?? {};
  if (perCaller > concurrency)
    fail(`queue.perCaller: expected at most concurrency, ${concurrency}; got ${perCaller}`);
  for (const argument of [...Object.keys(options.askFor ?? {}), ...estimateArguments(options.estimate)]) {
    if (!(argument in properties))
      fail(`"${argument}" is not an argument; known are ${Object.keys(properties).join(', ') || 'none'}`);
  }
  for (const argument of Object.keys(options.askFor ?? {})) {
    assertFlat(
      { type: 'object', properties: { [argument]: properties[argument] } },
      `tool "${options.name}": askFor`,
    );
  }
  const questions: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(options.questions ?? {})) {
    const field = `questions.${name}`;
    const json = convert(field, schema);
    assertFlat(json, `tool "${options.name}": ${field}`);
    questions[name] = usable(field, json);
  }
  const asksNothing = options.questions !== undefined && Object.keys(options.questions).length === 0;
  if (asksNothing && options.inputWaitSeconds !== undefined)
    fail('inputWaitSeconds: belongs to tools that ask; questions is {}');
  const given = options.example;
  for (const [field, schema, value] of [
    ['example.input', inputSchema, given?.input],
    ['example.output', outputSchema, given?.output],
  ] as const) {
    const problems = given && schema && value !== undefined ? check(schema, value, field) : [];
    if (problems.length) fail(problems.join('; '));
  }
  if (given && given.input === undefined) fail('example.input: expected arguments; got nothing');
  const deadlineSeconds = options.deadlineSeconds ?? 24 * 3600;
  const { estimate, cleanup, retryableErrors = [] } = options;
  const summary = summarize(options.description);
  let example: ToolExample | undefined;
  const times = { estimate, isEstimated: true, deadlineSeconds };
  const documented = { summary, inputSchema, ...times, cleanup, retryableErrors };
  return {
    name: options.name,
    workflow: options.name,
    toWorkflowArguments: (args) => [args],
    external: undefined,
    isPipeline: false,
    title: options.title ?? options.name.replaceAll('_', ' '),
    summary,
    description: describe(documented),
    inputSchema,
    outputSchema,
    toText:
      (options.toText as Tool['toText'] | undefined) ??
      ((output) => JSON.stringify(output, null, 2) ?? 'null'),
    taskSupport: options.taskSupport ?? 'optional',
    withoutTasks: options.withoutTasks,
    wait: options.wait ?? options.taskSupport === 'forbidden',
    timeoutSeconds: options.timeoutSeconds ?? 600,
    deadlineSeconds,
    cleanupSeconds: options.cleanupSeconds ?? DEFAULT_CLEANUP_SECONDS,
    inputWaitSeconds: asksNothing ? 0 : (options.inputWaitSeconds ?? DEFAULT_INPUT_WAIT_SECONDS),
    estimate,
    isEstimated: true,
    keepAliveSeconds: options.keepAliveSeconds ?? DEFAULT_KEEP_ALIVE_SECONDS,
    cleanup,
    retryableErrors,
    priority: options.priority,
    queue: options.queue && completeQueue(options.name, options.queue),
    // Lazy: workflows that import a definition need neither these nor their patterns.
    get example() {
      return (example ??= completeExample(given, inputSchema, outputSchema));
    },
    get gaps() {
      return documentationGaps({ ...options, inputSchema, outputSchema, example: this.example });
    },
    askFor: options.askFor ?? {},
    questions,
    annotations: options.annotations,
  };
}

function typeIn(json: JsonSchema): string {
  if (json['type'] !== undefined) return `type ${JSON.stringify(json['type'])}`;
  const names = Object.keys(json).join(': ..., ') || 'cups';
  return `no type; write { type: 'object', properties: { ${names}: ... } }`;
}

function completeExample(
  given: ToolExample | undefined,
  inputSchema: JsonSchema,
  outputSchema: JsonSchema | undefined,
): ToolExample | undefined {
  const input = given?.input ?? exampleOf(inputSchema);
  if (input === undefined) return undefined;
  const output = given?.output ?? (outputSchema && exampleOf(outputSchema));
  return { input: input as ToolExample['input'], ...(output === undefined ? {} : { output }) };
}

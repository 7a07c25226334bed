/** A tool's documentation for models: its description in lists, and all ten items for a protocol. */
import { clientBudgetSeconds } from '../tool/budgets.js';
import { ERROR_KINDS, isRetryable, type ErrorKind } from '../errors.js';
import type { JsonSchema } from '../tool/schema.js';
import { ITEMS, type DescriptionParts, type Item, type ToolExample } from './items.js';
import { describeEstimate, type ToolEstimate } from '../tool/estimate.js';
import { parametersOf, parametersText } from './parameters.js';
import { MAX_WAITING, type ToolQueue } from '../tool/queue.js';

/** Longest result in an example, in characters of JSON. */
const SHOWN_CHARACTERS = 120;
/** Error kinds that end a call or its work. Other kinds reject later requests, or the client. */
const DOCUMENTED_KINDS: ReadonlySet<ErrorKind> = new Set([
  'invalid_arguments',
  'too_large',
  'conflict',
  'unavailable',
  'rate_limited',
  'failed',
  'invalid_output',
  'timed_out',
  'canceled',
  'terminated',
  'internal',
]);

export const KEY_LINE =
  'The same idempotency_key and arguments return the same operation; others are refused.';
const RATES_LINE =
  'Beyond the limits of the server a call is refused as rate_limited, retryable, and says after how many seconds; nothing was started.';

export interface ProtocolLines {
  states: string;
  following: string;
  cancel: string;
  /** Default: {@link KEY_LINE}. */
  idempotency?: string;
  /** Default: calls beyond the limits are refused. */
  rates?: string;
  /** Arguments of the example call besides the tool's own. */
  exampleArguments?: object;
  /** Answer to the example call, and the calls after it. */
  example: (resultJson: string) => string;
}

/** Joins the author's sentences: purpose, when to use the tool, what it returns. */
export function summarize({ does, useWhen, returns }: DescriptionParts): string {
  return [does, useWhen, returns && `Returns: ${returns}`].filter(Boolean).join('\n');
}

interface Described {
  name: string;
  summary: string;
  inputSchema: JsonSchema;
  estimate: ToolEstimate;
  isEstimated: boolean;
  deadlineSeconds: number;
  cleanup: string | undefined;
  retryableErrors: string[];
  queue: ToolQueue | undefined;
  example: ToolExample | undefined;
}

/** The description in lists of tools, which every model request carries: only what sets the tool apart. See {@link documentationFor}. */
export function describe({
  summary,
  cleanup,
  retryableErrors,
  ...times
}: Pick<Described, 'summary' | 'cleanup' | 'retryableErrors' | keyof Times>): string {
  return [
    summary,
    `${durationOf(times)}.`,
    cleanup && cleanupLine(cleanup),
    retryableErrors.length > 0 && `Retryable failures: ${retryableErrors.join(', ')}.`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** All ten items for one protocol, a line or two each. */
export function documentationFor(tool: Described, lines: ProtocolLines): Record<Item, string> {
  const { name, summary, inputSchema, cleanup, deadlineSeconds, retryableErrors, queue, example } = tool;
  const { states, following, cancel, idempotency = KEY_LINE, rates = RATES_LINE } = lines;
  const [from, to] = clientBudgetSeconds(deadlineSeconds);
  const args = example ? JSON.stringify({ ...example.input, ...lines.exampleArguments }) : '{...}';
  return {
    operation: summary,
    parameters: argumentsLine(inputSchema),
    states,
    following,
    cancel: [cancel, cleanup && cleanupLine(cleanup)].filter(Boolean).join('\n'),
    timeout: `${durationOf(tool)} (waits for answers not counted), then times out; allow ${from}-${to} s.`,
    idempotency,
    errors: errorsLine(retryableErrors),
    rates: [rates, queue && queueLine(queue)].filter(Boolean).join('\n'),
    example: `Example: ${name} ${args} -> ${lines.example(exampleResultJson(example))}`,
  };
}

/** The whole documentation in Markdown: a heading per item, each parameter, and the schemas. */
export function documentationMarkdown(
  tool: Described & { outputSchema: JsonSchema | undefined },
  lines: ProtocolLines,
): string {
  const { operation, ...items } = documentationFor(tool, lines);
  const parameters = parametersText(parametersOf(tool.inputSchema)) || 'None.';
  return [
    `# ${tool.name}`,
    operation,
    ...Object.entries({ ...items, parameters }).map(([item, text]) => `## ${ITEMS[item as Item]}\n\n${text}`),
    ...schemaSections(tool.inputSchema, tool.outputSchema),
  ].join('\n\n');
}

/** `At most 4 run at once, 2 of one caller; others wait for their turn.` */
function queueLine({ concurrency, perCaller, maxWaiting }: ToolQueue): string {
  const own = perCaller === undefined ? '' : `, ${perCaller} of one caller`;
  const others =
    maxWaiting === 0
      ? 'further calls are refused (busy, retryable)'
      : `others wait for their turn${maxWaiting < MAX_WAITING ? `, at most ${maxWaiting}; further calls are refused (busy, retryable)` : ''}`;
  return `At most ${concurrency} run at once${own}; ${others}.`;
}

export function schemaSections(inputSchema: JsonSchema, outputSchema: JsonSchema | undefined): string[] {
  const section = (title: string, schema: JsonSchema) =>
    `## ${title}\n\n\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``;
  return [
    section('Input schema', inputSchema),
    ...(outputSchema ? [section('Result schema', outputSchema)] : []),
  ];
}

/** `Arguments: path string; optional: limit integer, deep boolean.` */
function argumentsLine(inputSchema: JsonSchema): string {
  const listed = (isRequired: boolean) =>
    parametersOf(inputSchema)
      .filter(({ required }) => required === isRequired)
      .map(({ name, type }) => (type === undefined ? name : `${name} ${short(type)}`))
      .join(', ');
  const [needed, optional] = [listed(true), listed(false)];
  if (!needed && !optional) return 'No arguments.';
  return `Arguments: ${[needed, optional && `optional: ${optional}`].filter(Boolean).join('; ')}.`;
}

/** Shortens a type: the schema next to it lists choices and items. */
function short(type: string): string {
  return type.startsWith('"') ? 'string' : type.replace(/^array of .*/, 'array');
}

type Times = Pick<Described, 'estimate' | 'deadlineSeconds' | 'isEstimated'>;

/** `Usually takes about 5 s, at most 3600 s`. */
function durationOf({ estimate, deadlineSeconds, isEstimated }: Times): string {
  const most = `at most ${deadlineSeconds} s`;
  return isEstimated ? `Usually takes ${describeEstimate(estimate)}, ${most}` : `Takes ${most}`;
}

function cleanupLine(cleanup: string): string {
  return `On cancel or time-out: ${cleanup}`;
}

function errorsLine(retryableErrors: string[]): string {
  const documented = ERROR_KINDS.filter((kind) => DOCUMENTED_KINDS.has(kind));
  const retryable = [...documented.filter(isRetryable), ...retryableErrors];
  return `Errors {kind, message, retryable}: retryable ${retryable.join(', ')}; not ${documented.filter((kind) => !isRetryable(kind)).join(', ')}.`;
}

/** JSON of an example's result; `{...}` for large ones. */
function exampleResultJson(example: ToolExample | undefined): string {
  const json = example?.output === undefined ? '{...}' : JSON.stringify(example.output);
  return json.length > SHOWN_CHARACTERS ? '{...}' : json;
}

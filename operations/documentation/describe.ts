/** A tool's description for models: the part common to all protocols, then how to use the tool over one protocol. */
import { clientBudgetSeconds } from '../budgets.js';
import { ERROR_KINDS, isRetryable, type ErrorKind } from '../errors.js';
import type { JsonSchema } from '../schema.js';
import type { DescriptionParts, Item, ToolExample } from './items.js';
import { describeEstimate, type ToolEstimate } from '../tool-estimate.js';
import { parametersOf } from './parameters.js';

/** Longest result that an example shows, in characters of JSON. */
const SHOWN_CHARACTERS = 120;
/** Error kinds that end a call or its work; the others reject later requests, or the client. */
const DOCUMENTED_KINDS: ReadonlySet<ErrorKind> = new Set([
  'invalid_arguments',
  'too_large',
  'conflict',
  'unavailable',
  'failed',
  'timed_out',
  'canceled',
  'terminated',
  'internal',
]);

/** Lines of the description that depend on the protocol. */
export type ProtocolLines = Record<
  Extract<Item, 'states' | 'following' | 'cancel' | 'idempotency' | 'rates' | 'example'>,
  string
>;

/** The whole description for one protocol. */
export function describeForProtocol(tool: { description: string }, lines: ProtocolLines): string {
  const { states, following, cancel, idempotency, rates, example } = lines;
  return [tool.description, states, following, cancel, idempotency, rates, example].join('\n');
}

/** Joins the author's sentences: purpose, when to use the tool, what it returns. */
export function summarize({ does, useWhen, returns }: DescriptionParts): string {
  return [does, useWhen, returns && `Returns: ${returns}`].filter(Boolean).join('\n');
}

/** The fields of a definition that its description uses. */
interface Described {
  summary: string;
  inputSchema: JsonSchema;
  estimate: ToolEstimate;
  /** Whether the estimate is the author's own. */
  isEstimated: boolean;
  deadlineSeconds: number;
  cleanup: string | undefined;
  retryableErrors: string[];
}

/** The part of the description that is common to all protocols. */
export function describe(tool: Described): string {
  const { summary, cleanup, retryableErrors } = tool;
  return [
    summary,
    argumentsLine(tool),
    times(tool),
    cleanup && `On cancel or time-out: ${cleanup}`,
    errors(retryableErrors),
  ]
    .filter(Boolean)
    .join('\n');
}

/** `Arguments: path string; optional: limit integer, deep boolean.` */
function argumentsLine({ inputSchema }: Described): string {
  const parameters = parametersOf(inputSchema);
  const listed = (isRequired: boolean) =>
    parameters
      .filter(({ required }) => required === isRequired)
      .map(({ name, type }) => (type === undefined ? name : `${name} ${short(type)}`))
      .join(', ');
  const [needed, optional] = [listed(true), listed(false)];
  if (!needed && !optional) return 'No arguments.';
  return `Arguments: ${[needed, optional && `optional: ${optional}`].filter(Boolean).join('; ')}.`;
}

/** Shortens a type: choices and items are in the schema beside the description. */
function short(type: string): string {
  return type.startsWith('"') ? 'string' : type.replace(/^array of .*/, 'array');
}

function times({ estimate, deadlineSeconds, isEstimated }: Described): string {
  const [from, to] = clientBudgetSeconds(deadlineSeconds);
  const most = `at most ${deadlineSeconds} s (waits for answers not counted), then times out; allow ${from}-${to} s.`;
  return isEstimated ? `Usually takes ${describeEstimate(estimate)}, ${most}` : `Takes ${most}`;
}

function errors(retryableErrors: string[]): string {
  const documented = ERROR_KINDS.filter((kind) => DOCUMENTED_KINDS.has(kind));
  const retryable = [...documented.filter(isRetryable), ...retryableErrors];
  return `Errors {kind, message, retryable}: retryable ${retryable.join(', ')}; not ${documented.filter((kind) => !isRetryable(kind)).join(', ')}.`;
}

/** JSON of a result for an example; `{...}` for large ones. */
export function exampleResultJson(example: ToolExample | undefined): string {
  const json = example?.output === undefined ? '{...}' : JSON.stringify(example.output);
  return json.length > SHOWN_CHARACTERS ? '{...}' : json;
}

/** JSON of the arguments for an example. */
export function exampleInputJson(example: ToolExample | undefined): string {
  return example === undefined ? '{...}' : JSON.stringify(example.input);
}

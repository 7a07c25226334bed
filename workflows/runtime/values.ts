/**
 * Values that leave the workflow: their checks, and the progress that goes with a result. JSON would drop or change some silently, and
 * clients discard a result that breaks the declared output. A value that is refused fails the operation, since a retry would repeat what
 * activities did.
 */
import { ApplicationFailure, defaultPayloadConverter, proxyLocalActivities } from '@temporalio/workflow';
import { RawValue, type Headers, type Payload } from '@temporalio/common';
import { mergeProgress } from '../../operations/record.js';
import { defined } from '../../operations/json/defined.js';
import { lossIn, NOT_JSON } from '../../operations/json/lossless.js';
import { INVALID_OUTPUT, outputProblem } from '../../operations/tool/output.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import {
  KEEP_RESULT_ACTIVITY,
  OUTPUT_HEADER,
  PROGRESS_METADATA,
  UNAWAITED_METADATA,
} from '../../operations/wire/index.js';
import type { ReportedResult } from '../../operations/wire/report.js';
import { changeState, operation, state } from './state.js';

/** Results of more JSON are checked as they are read: a check of some 10 MB would take the workflow's thread for seconds. */
const CHECKED_CHARACTERS = 4 * 1024 * 1024;

/** Header of the start, passed on to the next run. */
let declared: Payload | undefined;

export function takeDeclaredOutput(headers: Headers): void {
  declared = headers[OUTPUT_HEADER];
}

export function withDeclaredOutput(headers: Headers): Headers {
  return declared ? { ...headers, [OUTPUT_HEADER]: declared } : headers;
}

/** Whether values are checked. Operations of earlier releases end as they did, so their histories replay. */
export function checksValues(): boolean {
  return operation().output !== undefined;
}

/** @throws ApplicationFailure `NotJson`, non-retryable */
export function assertJson(value: unknown, name: string): void {
  const loss = lossOf(value, name);
  if (loss !== undefined) throw notJson(loss);
}

/** Undefined also where values aren't checked. */
function lossOf(value: unknown, name: string): string | undefined {
  return checksValues() && !(value instanceof RawValue) ? lossIn(value, name) : undefined;
}

/** Failure of arguments of activities, child workflows and the next run. Temporal takes bytes as they are. */
export function failureOfArguments(args: readonly unknown[], of: string): ApplicationFailure | undefined {
  for (const [index, arg] of args.entries()) {
    const loss = arg instanceof Uint8Array ? undefined : lossOf(arg, `argument ${index + 1} of ${of}`);
    if (loss !== undefined) return notJson(loss);
  }
  return undefined;
}

function notJson(loss: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(loss, NOT_JSON);
}

/** The value if JSON holds it: an ended operation keeps it as its partial result. */
export function withoutLoss(value: unknown): unknown {
  return lossOf(value, '') === undefined ? value : undefined;
}

/** Failure of an operation, or a part, that this result can't complete. */
export function failureOfResult(result: unknown): ApplicationFailure | undefined {
  const loss = lossOf(result, 'result');
  if (loss !== undefined) return notJson(loss);
  if (!declared || !checksValues() || result instanceof RawValue) return undefined;
  const json = JSON.stringify(result) as string | undefined;
  if ((json?.length ?? 0) > CHECKED_CHARACTERS) return undefined;
  const schema = defaultPayloadConverter.fromPayload<JsonSchema>(declared);
  const problem = outputProblem(schema, json === undefined ? undefined : JSON.parse(json));
  return problem === undefined ? undefined : ApplicationFailure.nonRetryable(problem, INVALID_OUTPUT);
}

export function isInvalidOutput(failure: unknown): boolean {
  return failure instanceof ApplicationFailure && failure.type === INVALID_OUTPUT;
}

const { [KEEP_RESULT_ACTIVITY]: keep } = proxyLocalActivities<
  Record<typeof KEEP_RESULT_ACTIVITY, (result: unknown) => Promise<object>>
>({ startToCloseTimeout: '30s', retry: { maximumAttempts: 1 } });

/** Keeps a result that breaks the declared output as an artifact, or while storage is away as the partial result itself. */
export async function keepResult(result: unknown): Promise<void> {
  const partial = await keep(result).then(
    (artifact) => ({ result: artifact }),
    () => result,
  );
  changeState({ partial });
}

/** Wraps a part's result with its progress, like an activity's. */
export function withProgress(result: unknown): unknown {
  const { progress } = state();
  return progress ? ({ longhaul: 'result', progress, result } satisfies ReportedResult) : result;
}

/** Adds the final progress, and activities that run on, to the metadata of the result: a memo event would only repeat them. */
export function withMetadata(result: unknown, unawaited: string | undefined): unknown {
  const progress = mergeProgress(state(), []);
  const added = defined({ [PROGRESS_METADATA]: progress, [UNAWAITED_METADATA]: unawaited });
  if (Object.keys(added).length === 0) return result;
  const { metadata, ...payload } = defaultPayloadConverter.toPayload(result);
  const bytes = Object.entries(added).map(([name, value]): [string, Uint8Array] => [
    name,
    defaultPayloadConverter.toPayload(value).data!,
  ]);
  return RawValue.fromPayload({ ...payload, metadata: { ...metadata, ...Object.fromEntries(bytes) } });
}

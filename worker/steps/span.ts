/** Span of a step's run: the parent of what its processes trace. The worker that has reported the step's outcome exports it. */
import { childName, type RunStep } from '../../pipelines/run.js';
import { formatTrace, parseCarrier, type TraceContext } from '../../operations/wire/trace-context.js';
import { spanIdOf, tracing } from '../../platform/observe/tracing/index.js';
import { endAttempt, type AttemptRecord } from '../../activities/runtime/attempt-span.js';
import type { StepEnd } from './outcome.js';

/** A run of a step whose outcome Temporal has. */
export interface EndedStep {
  stepId: string;
  token: string;
  step: RunStep;
  /** ISO 8601. */
  startedAt: string;
  end: StepEnd;
  /** The attempt that started it. */
  attempt: AttemptRecord;
  /** Whether that attempt reports its own end. */
  isAttended: boolean;
}

/**
 * Variables that let the step's processes continue the trace. OpenTelemetry names them like the headers, in upper case.
 *
 * @param attempt undefined if the worker records no spans: the step then continues the attempt's own parent
 */
export function traceVariables(
  trace: TraceContext | undefined,
  attempt: AttemptRecord | undefined,
  stepId: string,
): Record<string, string> {
  if (!trace) return {};
  const context = attempt ? { ...trace, spanId: stepSpanId(stepId) } : trace;
  const { traceparent, tracestate } = formatTrace(context);
  return { TRACEPARENT: traceparent, ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }) };
}

/** Exports a step's span, and the span of the attempt that started it unless that attempt does so itself. */
export function endStep({ stepId, token, step, startedAt, end, attempt, isAttended }: EndedStep): void {
  const parent = parseCarrier(attempt);
  if (!parent) return;
  const failure = failureOf(end);
  const outcome = end.cause === 'canceled' ? 'canceled' : failure === undefined ? 'completed' : 'failed';
  const span = tracing()?.startSpan(`RunStep:${step.name}`, {
    parent,
    spanId: stepSpanId(stepId),
    startMs: Date.parse(startedAt),
    attributes: {
      'longhaul.token': token,
      'longhaul.job': childName(step.child),
      'longhaul.step': step.name,
      'longhaul.outcome': outcome,
      'process.exit.code': end.exit?.exitCode,
    },
  });
  if (failure !== undefined) span?.fail(failure);
  span?.end(endedMs(end));
  if (!isAttended) endAttempt(attempt, { outcome, failure }, { 'longhaul.adopted': true });
}

/** The launcher's record has whole seconds: the step ended within that second, and before now. */
function endedMs({ exit }: StepEnd): number {
  return exit ? Math.min(Date.parse(exit.endedAt) + 999, Date.now()) : Date.now();
}

function stepSpanId(stepId: string): string {
  return spanIdOf('step', stepId);
}

/** Type of the step's failure, like {@link stepOutcome}'s. */
function failureOf({ exit, cause, lost }: StepEnd): string | undefined {
  if (cause === 'canceled') return undefined;
  if (lost) return 'StepLogLost';
  if (cause === 'timeout') return 'StepTimedOut';
  if (!exit || cause) return 'StepInDoubt';
  return exit.exitCode === 0 ? undefined : 'StepFailed';
}

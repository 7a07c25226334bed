/** The envelope as text, for models that see only text: status, outcome, next steps. */
import { humanDuration } from '../../../operations/budgets.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../../lifecycle/shutdown.js';
import type { NextAction } from './next-action.js';
import type { Envelope } from './schema.js';

/** Time beyond the estimate after which the text suggests a closer look, in seconds. */
const LOOK_INTO_SECONDS = 10 * 60;
const LONGEST_MESSAGE = 300;

/** Texts for a wait that ended before the work. */
const WAIT_ENDS: Record<NonNullable<Envelope['error_kind']>, string> = {
  wait_timeout: 'the wait reached its time limit. The work continues.',
  [SERVER_STOPPING]: `this server is stopping, which ended the wait. The work continues; another server, or this one once it is back in about ${RETRY_AFTER_SECONDS} s, answers the next call with the same token.`,
};

/** @param outcome result or failure as text, once the work has ended */
export function envelopeText(envelope: Envelope, outcome: string | undefined): string {
  const { status, next_action: next } = envelope;
  return [
    `${envelope.tool}: ${status}`,
    `token: ${envelope.token}`,
    ...stateLines(envelope),
    ...(outcome === undefined ? [] : ['', outcome]),
    ...(next ? ['', ...nextSteps(envelope, next)] : stepsAfterEnd(envelope)),
  ].join('\n');
}

function stateLines(envelope: Envelope): string[] {
  const { status, status_message, children, estimate_seconds, error_kind, cancel_requested } = envelope;
  const isOpen = status === 'queued' || status === 'running';
  const isMessageShown = isOpen || status === 'cancelled';
  return [
    ...(isMessageShown && status_message !== undefined ? [`message: ${quoted(status_message)}`] : []),
    ...(children === undefined ? [] : [`parts: ${countsOf(children)}`]),
    ...(cancel_requested
      ? ['Being cancelled: the status becomes cancelled once running work has ended.']
      : []),
    ...(estimate_seconds !== undefined && isOpen && !cancel_requested
      ? [`It usually takes about ${humanDuration(estimate_seconds)}.`]
      : []),
    ...(error_kind === undefined ? [] : [`${error_kind}: ${WAIT_ENDS[error_kind]}`]),
  ];
}

function nextSteps(envelope: Envelope, next: NextAction): string[] {
  const seconds = next.check_after_seconds;
  const ended = `it has ended when ${
    next.status_path === 'status' ? '`status` is' : `all of \`${next.status_path}\` are`
  } one of ${next.terminal_statuses.join(', ')}`;
  if (next.question) {
    const others = Object.keys(envelope.input_required ?? {}).length - 1;
    return [
      `It is waiting for an answer: ${quoted(next.question.message)}`,
      `Schema of the answer's content: ${JSON.stringify(next.question.schema)}`,
      `Ask the person unless you may decide yourself. Then call ${callOf(next)} with content as well, or with action "decline".`,
      ...(others > 0 ? [`Other open questions: ${others}.`] : []),
      `Afterwards follow it with operation_get; ${ended}.`,
    ];
  }
  if (envelope.cancel_requested) return [`Next: in ${seconds} s call ${callOf(next)}; ${ended}.`];
  const { token, created_at, estimate_seconds = 0 } = envelope;
  const lookInto = new Date(Date.parse(created_at) + (estimate_seconds + LOOK_INTO_SECONDS) * 1000);
  return [
    'The work continues whether or not anyone waits; do something else meanwhile.',
    `Next: in ${seconds} s call ${callOf(next)}; ${ended}.`,
    `If it is still running 10 to 15 minutes past its estimate (from ${lookInto.toISOString().slice(0, 16)}Z on), inspect it: ` +
      `operation_get ${JSON.stringify({ token, view: 'steps' })}, or view logs. operation_cancel ends it.`,
  ];
}

/** Next steps for an operation that has ended without a result. */
function stepsAfterEnd({ token, status, children, error }: Envelope): string[] {
  if (status === 'completed') return [];
  return [
    ...(error?.retryable ? ['The same call may succeed later.'] : []),
    ...(status === 'expired'
      ? ['Its result is no longer kept. Call the tool again if it is still needed.']
      : []),
    ...(children && status !== 'expired'
      ? [`operation_resume ${JSON.stringify({ token })} continues after the last finished step.`]
      : []),
  ];
}

function callOf({ tool, args }: NextAction): string {
  return `${tool} ${JSON.stringify(args)}`;
}

function countsOf(children: { status: string }[]): string {
  const counts = new Map<string, number>();
  for (const { status } of children) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(', ');
}

/** Quoted as JSON and shortened: the text comes from the work, not from the server. */
function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}...` : text);
}

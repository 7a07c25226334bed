/** The envelope as text, for models that see only text: status, outcome, next step. */
import { humanDuration } from '../../../operations/tool/budgets.js';
import { PLAIN_FINAL_STATUSES } from '../../../operations/status-names.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../../shutdown/index.js';
import { inlineData } from '../../call/as-data.js';
import type { NextAction } from './next-action.js';
import type { Answered } from './schema.js';

const LONGEST_MESSAGE = 300;

/** Final statuses, in the server's spelling. */
const FINAL = PLAIN_FINAL_STATUSES.filter((status) => status !== 'canceled')
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

const WAIT_ENDS: Record<NonNullable<Answered['error_kind']>, string> = {
  wait_timeout: 'the work continues.',
  [SERVER_STOPPING]: `this server is stopping, which ended the wait. The work continues; another server, or this one once it is back in about ${RETRY_AFTER_SECONDS} s, answers the next call with the same token.`,
};

export interface TextContext {
  isNamed: boolean;
  /** Result or failure as text, once the work has ended. */
  outcome: string | undefined;
  /** Whether it has run over 10 minutes beyond its estimate. */
  isOverdue: boolean;
  /** Whether it can be resumed if it ended without a result. */
  isResumable: boolean;
  token: string;
}

export function envelopeText(envelope: Answered, context: TextContext): string {
  const { next_action: next } = envelope;
  const { outcome } = context;
  const state = [statusLine(envelope, context), ...stateSentences(envelope)];
  const steps = next ? nextSentences(envelope, next, context) : [];
  return [
    ...(next?.question ? [state.join(' '), ...steps] : [[...state, ...steps].join(' ')]),
    ...(outcome === undefined ? [] : ['', outcome]),
    ...(next ? [] : stepsAfterEnd(envelope, context)),
  ].join('\n');
}

/** `running: <data>"2 of 5"</data>, usually about 7 s.`, with the token only where neither the call nor next_action names it. */
function statusLine(
  { status, status_message, estimate_seconds, next_action }: Answered,
  { isNamed, token }: TextContext,
): string {
  const message = status_message === undefined ? '' : `: ${inlineData(shortened(status_message))}`;
  const usual = estimate_seconds === undefined ? '' : `, usually about ${humanDuration(estimate_seconds)}`;
  const named = isNamed || next_action ? '' : `; token: ${token}`;
  return `${status}${message}${usual}${named}.`;
}

function stateSentences({ status_message, error_kind, cancel_requested }: Answered): string[] {
  return [
    ...(cancel_requested && status_message === undefined
      ? ['Being cancelled: the status becomes cancelled once running work has ended.']
      : []),
    ...(error_kind === undefined ? [] : [`${error_kind}: ${WAIT_ENDS[error_kind]}`]),
  ];
}

function nextSentences(envelope: Answered, next: NextAction, { isOverdue }: TextContext): string[] {
  const { tool, args, question, check_after_seconds: seconds } = next;
  if (question) {
    const others = Object.keys(envelope.input_required ?? {}).length - 1;
    return [
      `It is waiting for an answer: ${inlineData(shortened(question.message))}`,
      `Schema of the answer's content: ${inlineData(question.schema)}`,
      `Ask the person unless you may decide yourself. Then call ${tool} ${JSON.stringify(args)} with content as well, or with action "decline"; afterwards operation_get.`,
      ...(others > 0 ? [`Other open questions: ${others}.`] : []),
    ];
  }
  return [
    tool === undefined
      ? `Call again in ${seconds} s.`
      : `In ${seconds} s call ${tool} ${JSON.stringify(args)}, until ${FINAL}.`,
    ...(isOverdue ? ['Overdue: see view steps or logs.'] : []),
  ];
}

function stepsAfterEnd({ status, error }: Answered, { isResumable, token }: TextContext): string[] {
  if (status === 'completed') return [];
  return [
    ...(error?.retryable ? ['The same call may succeed later.'] : []),
    ...(status === 'expired'
      ? ['Its result is no longer kept. Call the tool again if it is still needed.']
      : []),
    ...(isResumable && status !== 'expired'
      ? [`operation_resume ${JSON.stringify({ token })} continues after the last finished step.`]
      : []),
  ];
}

function shortened(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}...` : text;
}

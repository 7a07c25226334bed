/**
 * Decides whether an activity may run: a server with this worker's secret must have started its workflow or operation.
 * Otherwise anybody who reaches Temporal could run commands as the worker's user.
 */
import type { Info } from '@temporalio/activity';
import { ApplicationFailure, defaultPayloadConverter, type Headers } from '@temporalio/common';
import { CHECK_TURNS_ACTIVITY, TELL_TURNS_ACTIVITY } from '../../operations/wire/queue-wire.js';
import { describeTimes } from '../../operations/tool/schedule-times.js';
import { parseSignature } from '../../operations/wire/signatures.js';
import { OPERATION_ID_HEADER, OTHER_KEY, SIGNATURE_HEADER, UNSIGNED } from '../../operations/wire/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { timesIn, type Signer } from '../../platform/temporal/signer.js';

/** Local activities of queues, whose workflows start unsigned. They only signal and describe workflows, as anyone can. */
const UNSIGNED_ACTIVITIES: ReadonlySet<string> = new Set([TELL_TURNS_ACTIVITY, CHECK_TURNS_ACTIVITY]);

/** Throws for an activity that may not run. */
export type VerifyStart = (headers: Headers, info: Info) => void;

/**
 * @param unsignedStarts whether activities of unsigned workflows may run
 * @param onOtherKey called for each start that was signed with another key, with the name of that key
 */
export function startVerifier(
  signer: Signer,
  unsignedStarts: 'refuse' | 'allow',
  logger: Logger,
  onOtherKey: (keyId: string) => void,
): VerifyStart {
  const warned = new Set<string>();
  const warnOnce = (about: string, fields: object, message: string) => {
    if (warned.has(about)) return;
    warned.add(about);
    logger.error(fields, message);
  };
  return (headers, { workflowExecution, workflowType, activityType, isLocal }) => {
    if (isLocal && UNSIGNED_ACTIVITIES.has(activityType)) return;
    const workflowId = workflowExecution?.workflowId;
    const signature = valueOf(headers, SIGNATURE_HEADER);
    if (signature === undefined && unsignedStarts === 'allow') return;
    // The worker's workflow code sets this header only in an operation's children.
    const signedId = valueOf(headers, OPERATION_ID_HEADER) ?? workflowId;
    const problem =
      workflowId === undefined || typeof signedId !== 'string' || signature === undefined
        ? 'unsigned'
        : signer.problemOf(['start', 'schedule'], signedId, signature);
    if (problem === undefined) return;
    const what = workflowId === undefined ? 'no workflow' : `workflow ${JSON.stringify(workflowId)}`;
    if (problem === 'other-key') {
      const { keyId } = parseSignature(signature)!;
      onOtherKey(keyId);
      const message =
        `the start of ${what} was signed with the key ${keyId}, and this worker has the key ` +
        `${signer.keyId}: its secret is another one. Give all servers and workers of this Temporal the same LONGHAUL_SECRET, or ` +
        `the same file "secret" in LONGHAUL_HOME`;
      warnOnce('key', { workflowId, workflowType }, message);
      // Another worker, or this one with the right secret, can still run it.
      throw ApplicationFailure.retryable(message, OTHER_KEY);
    }
    if (problem === 'off-schedule') {
      const message =
        `the time in the ID of ${what} is none of the signed schedule (${describeTimes(timesIn(signature)!)}), so the schedule didn't ` +
        `start it: nothing was done. Sign other times with longhaul sign --schedule; for a single run, start the tool through the server`;
      warnOnce(problem, { workflowId, workflowType }, message);
      throw ApplicationFailure.nonRetryable(message, UNSIGNED);
    }
    const message =
      problem === 'forged'
        ? `the start of ${what} has a signature that is not for this workflow ID: nothing was done. Start the tool through the server`
        : `${what} has no signature of Longhaul, so the activity "${activityType}" was refused: nothing was done. Start the tool ` +
          `through the server, or with the command that longhaul sign prints. For workflows of your own on this task queue, set ` +
          `unsignedStarts to allow: then everybody who reaches Temporal can have this worker run its activities`;
    warnOnce(problem, { workflowId, workflowType, activityType }, message);
    throw ApplicationFailure.nonRetryable(message, UNSIGNED);
  };
}

/** Undefined for a missing header, null for an unreadable one. */
function valueOf(headers: Headers, name: string): unknown {
  const payload = headers[name];
  try {
    return payload && defaultPayloadConverter.fromPayload(payload);
  } catch {
    return null;
  }
}

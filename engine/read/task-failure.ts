/** The failure that keeps a workflow task from completing. Temporal's history has the first one of a task only. */
import proto from '@temporalio/proto';
import { callIn, cureOf, thrownText } from '../../operations/thrown.js';
import type { TemporalClient } from '../temporal/client.js';
import { eventsFromEnd } from './history.js';

const { EventType } = proto.temporal.api.enums.v1;

type Failure = proto.temporal.api.failure.v1.IFailure;

export interface TaskFailure {
  cause: number;
  message: string;
  type: string | undefined;
  /** The error with its place, in one line. */
  text: string;
  /** How to correct it. */
  cure: string;
}

/** The failure of the current task, which may have ended with its run. @param runId Default: the current run */
export async function lastTaskFailure(
  temporal: TemporalClient,
  workflowId: string,
  runId?: string,
): Promise<TaskFailure | undefined> {
  for await (const event of eventsFromEnd(temporal, { workflowId, runId }, 1)) {
    if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) return undefined;
    const { cause, failure } = event.workflowTaskFailedEventAttributes ?? {};
    if (!failure?.message) continue;
    const { message } = failure;
    const type = failure.applicationFailureInfo?.type ?? undefined;
    return { cause: cause ?? 0, message, type, ...described(failure) };
  }
  return undefined;
}

function described(failure: Failure): Pick<TaskFailure, 'text' | 'cure'> {
  const { message, cause } = failure;
  if (!cause || !message?.startsWith('Unhandled Promise rejection'))
    return { text: textOf(failure), cure: cureOf(message ?? '') };
  const activity = cause.activityFailureInfo?.activityType?.name;
  const child = cause.childWorkflowExecutionFailureInfo?.workflowType?.name;
  const called = callIn(cause.stackTrace);
  const what = activity ?? child;
  return {
    text: what
      ? `${what}${called ? ` (called ${called})` : ''} isn't awaited and failed: ${textOf(rootOf(cause))}`
      : `a promise that isn't awaited was rejected: ${textOf(cause)}`,
    cure: 'await it, or catch its error',
  };
}

function textOf({ message, stackTrace }: Failure): string {
  return thrownText({ message: message ?? '', stack: stackTrace });
}

function rootOf(failure: Failure): Failure {
  return failure.cause ? rootOf(failure.cause) : failure;
}

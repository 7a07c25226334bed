/** Workflow commands and their history events in one comparable form. */
import proto from '@temporalio/proto';
import type { SandboxCommand } from '../../platform/temporal/internal/replay-trace.js';

const { EventType } = proto.temporal.api.enums.v1;
export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

/** A command, or its event. */
export interface Step {
  /** Temporal's name of the command, such as `ScheduleActivityTask`. */
  command: string;
  /** Type of the activity or child workflow, name of the signal, ID of the patch, or keys of a memo. */
  name?: string;
  /** ID of an activity or a timer: the number of such commands before it. */
  id?: string;
  /** Duration of a timer: `5s`, `0.25s`. */
  duration?: string;
}

type Fields = Record<string, unknown>;

/** A command in Temporal's words -> its event, and the fields of the sandbox's commands that make it. */
const COMMANDS: Record<string, [event: string, ...inSandbox: string[]]> = {
  ScheduleActivityTask: ['activityTaskScheduled', 'scheduleActivity'],
  RequestCancelActivityTask: ['activityTaskCancelRequested', 'requestCancelActivity'],
  StartTimer: ['timerStarted', 'startTimer'],
  CancelTimer: ['timerCanceled', 'cancelTimer'],
  StartChildWorkflowExecution: ['startChildWorkflowExecutionInitiated', 'startChildWorkflowExecution'],
  SignalExternalWorkflowExecution: [
    'signalExternalWorkflowExecutionInitiated',
    'signalExternalWorkflowExecution',
  ],
  RequestCancelExternalWorkflowExecution: [
    'requestCancelExternalWorkflowExecutionInitiated',
    'requestCancelExternalWorkflowExecution',
    'cancelChildWorkflowExecution',
  ],
  RecordMarker: ['markerRecorded', 'setPatchMarker', 'scheduleLocalActivity'],
  UpsertWorkflowSearchAttributes: ['upsertWorkflowSearchAttributes', 'upsertWorkflowSearchAttributes'],
  ModifyWorkflowProperties: ['workflowPropertiesModified', 'modifyWorkflowProperties'],
  CompleteWorkflowExecution: ['workflowExecutionCompleted', 'completeWorkflowExecution'],
  FailWorkflowExecution: ['workflowExecutionFailed', 'failWorkflowExecution'],
  CancelWorkflowExecution: ['workflowExecutionCanceled', 'cancelWorkflowExecution'],
  ContinueAsNewWorkflowExecution: ['workflowExecutionContinuedAsNew', 'continueAsNewWorkflowExecution'],
  ScheduleNexusOperation: ['nexusOperationScheduled', 'scheduleNexusOperation'],
  RequestCancelNexusOperation: ['nexusOperationCancelRequested', 'requestCancelNexusOperation'],
};

/** Names the subject of a command or its event. */
const NAMES: Partial<Record<string, (fields: Fields) => string | undefined>> = {
  ScheduleActivityTask: ({ activityType }) => typeName(activityType),
  StartChildWorkflowExecution: ({ workflowType }) => typeName(workflowType),
  SignalExternalWorkflowExecution: ({ signalName }) => text(signalName),
  RecordMarker: markerName,
  UpsertWorkflowSearchAttributes: ({ searchAttributes }) =>
    keysOf(searchAttributes, 'indexedFields').join(', '),
  ModifyWorkflowProperties: ({ upsertedMemo }) =>
    keysOf(upsertedMemo, 'fields')
      .map((key) => `memo ${key}`)
      .join(', '),
  ScheduleNexusOperation: ({ operation }) => text(operation),
};

function stepOf(command: string, fields: Fields): Step {
  const { seq, activityId, timerId, startToFireTimeout } = fields;
  return {
    command,
    name: NAMES[command]?.(fields),
    id: text(seq ?? activityId ?? timerId),
    duration: seconds(startToFireTimeout),
  };
}

/** The command of an event; undefined for events without a command. */
export function stepOfEvent(event: HistoryEvent): Step | undefined {
  const all = event as unknown as Record<string, Fields | null | undefined>;
  if (all['workflowExecutionUpdateAcceptedEventAttributes']) return updateStep('accepted');
  if (all['workflowExecutionUpdateCompletedEventAttributes']) return updateStep('completed');
  for (const [command, [name]] of Object.entries(COMMANDS)) {
    const fields = all[`${name}EventAttributes`];
    if (!fields) continue;
    const step = stepOf(command, fields);
    // The SDK's core writes this attribute itself, for patches.
    return step.name === 'TemporalChangeVersion' ? undefined : step;
  }
  return undefined;
}

/** The command in Temporal's words; undefined for one that leaves no event. */
export function stepOfCommand(made: SandboxCommand): Step | undefined {
  const { updateResponse } = made;
  if (updateResponse?.['accepted']) return updateStep('accepted');
  if (updateResponse) return updateResponse['rejected'] ? undefined : updateStep('completed');
  for (const [command, [, ...names]] of Object.entries(COMMANDS)) {
    const fields = names.map((name) => made[name]).find(Boolean);
    if (fields) return stepOf(command, fields);
  }
  return undefined;
}

function updateStep(how: 'accepted' | 'completed'): Step {
  return { command: 'ProtocolMessage', name: `update ${how}` };
}

/** An event's type as in Temporal's UI: `ActivityTaskScheduled`. */
export function typeOfEvent({ eventType }: HistoryEvent): string {
  const name = EventType[eventType ?? 0]?.replace(/^EVENT_TYPE_/, '') ?? 'Unspecified';
  return name.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_whole, letter: string) => letter.toUpperCase());
}

export function isLocalActivity({ command, name }: Step): boolean {
  return command === 'RecordMarker' && name?.startsWith('local activity ') === true;
}

export function isPatch({ command, name }: Step): boolean {
  return command === 'RecordMarker' && name?.startsWith('patch ') === true;
}

/** The core's markers hold their details as JSON. Fields of a command name the patch or the local activity. */
function markerName({ patchId, activityType, markerName: name, details }: Fields): string | undefined {
  const payloads = details as Record<string, { payloads?: { data?: Uint8Array }[] }> | null | undefined;
  const read = (key: string, field: string): unknown => {
    const data = payloads?.[key]?.payloads?.[0]?.data;
    try {
      return data && (JSON.parse(Buffer.from(data).toString()) as Fields)[field];
    } catch {
      return undefined;
    }
  };
  if (patchId !== undefined || name === 'core_patch')
    return `patch ${text(patchId ?? read('patch-data', 'id')) ?? ''}`;
  if (activityType !== undefined || name === 'core_local_activity')
    return `local activity ${text(activityType ?? read('data', 'activity_type')) ?? ''}`;
  return text(name);
}

function keysOf(value: unknown, field: string): string[] {
  return Object.keys((value as Record<string, object | null> | null | undefined)?.[field] ?? {}).sort();
}

/** The sandbox has a type's name alone, an event an object with it. */
function typeName(type: unknown): string | undefined {
  return text(typeof type === 'string' ? type : (type as { name?: unknown } | null | undefined)?.name);
}

function seconds(duration: unknown): string | undefined {
  if (!duration) return undefined;
  const { seconds: whole, nanos } = duration as { seconds?: unknown; nanos?: number };
  return `${Number(text(whole) ?? 0) + (nanos ?? 0) / 1e9}s`;
}

/** IDs and numbers as text. A Long has its own toString(). */
function text(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : `${value as string | number}`;
}

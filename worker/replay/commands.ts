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

/** Field of an event -> its command. */
const EVENTS: Record<string, (fields: Fields) => Step | undefined> = {
  activityTaskScheduledEventAttributes: ({ activityType, activityId }) => ({
    command: 'ScheduleActivityTask',
    name: nameOf(activityType),
    id: text(activityId),
  }),
  activityTaskCancelRequestedEventAttributes: () => ({ command: 'RequestCancelActivityTask' }),
  timerStartedEventAttributes: ({ timerId, startToFireTimeout }) => ({
    command: 'StartTimer',
    id: text(timerId),
    duration: seconds(startToFireTimeout),
  }),
  timerCanceledEventAttributes: ({ timerId }) => ({ command: 'CancelTimer', id: text(timerId) }),
  startChildWorkflowExecutionInitiatedEventAttributes: ({ workflowType }) => ({
    command: 'StartChildWorkflowExecution',
    name: nameOf(workflowType),
  }),
  signalExternalWorkflowExecutionInitiatedEventAttributes: ({ signalName }) => ({
    command: 'SignalExternalWorkflowExecution',
    name: text(signalName),
  }),
  requestCancelExternalWorkflowExecutionInitiatedEventAttributes: () => ({
    command: 'RequestCancelExternalWorkflowExecution',
  }),
  markerRecordedEventAttributes: markerStep,
  upsertWorkflowSearchAttributesEventAttributes: ({ searchAttributes }) => {
    const name = attributeNames(searchAttributes);
    // The SDK's core writes this one itself, for patches.
    return name === 'TemporalChangeVersion' ? undefined : { command: 'UpsertWorkflowSearchAttributes', name };
  },
  workflowPropertiesModifiedEventAttributes: ({ upsertedMemo }) => ({
    command: 'ModifyWorkflowProperties',
    name: memoKeys(upsertedMemo),
  }),
  workflowExecutionUpdateAcceptedEventAttributes: () => ({
    command: 'ProtocolMessage',
    name: 'update accepted',
  }),
  workflowExecutionUpdateCompletedEventAttributes: () => ({
    command: 'ProtocolMessage',
    name: 'update completed',
  }),
  workflowExecutionCompletedEventAttributes: () => ({ command: 'CompleteWorkflowExecution' }),
  workflowExecutionFailedEventAttributes: () => ({ command: 'FailWorkflowExecution' }),
  workflowExecutionCanceledEventAttributes: () => ({ command: 'CancelWorkflowExecution' }),
  workflowExecutionContinuedAsNewEventAttributes: () => ({ command: 'ContinueAsNewWorkflowExecution' }),
  nexusOperationScheduledEventAttributes: ({ operation }) => ({
    command: 'ScheduleNexusOperation',
    name: text(operation),
  }),
  nexusOperationCancelRequestedEventAttributes: () => ({ command: 'RequestCancelNexusOperation' }),
};

/** Field of a command in the sandbox -> the command. */
const COMMANDS: Record<string, (fields: Fields) => Step> = {
  scheduleActivity: ({ activityType, seq }) => ({
    command: 'ScheduleActivityTask',
    name: text(activityType),
    id: text(seq),
  }),
  requestCancelActivity: () => ({ command: 'RequestCancelActivityTask' }),
  startTimer: ({ seq, startToFireTimeout }) => ({
    command: 'StartTimer',
    id: text(seq),
    duration: seconds(startToFireTimeout),
  }),
  cancelTimer: ({ seq }) => ({ command: 'CancelTimer', id: text(seq) }),
  startChildWorkflowExecution: ({ workflowType }) => ({
    command: 'StartChildWorkflowExecution',
    name: text(workflowType),
  }),
  signalExternalWorkflowExecution: ({ signalName }) => ({
    command: 'SignalExternalWorkflowExecution',
    name: text(signalName),
  }),
  cancelChildWorkflowExecution: () => ({ command: 'RequestCancelExternalWorkflowExecution' }),
  requestCancelExternalWorkflowExecution: () => ({ command: 'RequestCancelExternalWorkflowExecution' }),
  setPatchMarker: ({ patchId }) => ({ command: 'RecordMarker', name: `patch ${text(patchId)}` }),
  scheduleLocalActivity: ({ activityType }) => ({
    command: 'RecordMarker',
    name: `local activity ${text(activityType)}`,
  }),
  upsertWorkflowSearchAttributes: ({ searchAttributes }) => ({
    command: 'UpsertWorkflowSearchAttributes',
    name: attributeNames(searchAttributes),
  }),
  modifyWorkflowProperties: ({ upsertedMemo }) => ({
    command: 'ModifyWorkflowProperties',
    name: memoKeys(upsertedMemo),
  }),
  completeWorkflowExecution: () => ({ command: 'CompleteWorkflowExecution' }),
  failWorkflowExecution: () => ({ command: 'FailWorkflowExecution' }),
  cancelWorkflowExecution: () => ({ command: 'CancelWorkflowExecution' }),
  continueAsNewWorkflowExecution: () => ({ command: 'ContinueAsNewWorkflowExecution' }),
  scheduleNexusOperation: ({ operation }) => ({ command: 'ScheduleNexusOperation', name: text(operation) }),
  requestCancelNexusOperation: () => ({ command: 'RequestCancelNexusOperation' }),
};

/** The command of an event; undefined for events without a command. */
export function stepOfEvent(event: HistoryEvent): Step | undefined {
  for (const [field, read] of Object.entries(EVENTS)) {
    const fields = (event as unknown as Record<string, Fields | null | undefined>)[field];
    if (fields) return read(fields);
  }
  return undefined;
}

/** The command in Temporal's words; undefined for one that leaves no event. */
export function stepOfCommand(command: SandboxCommand): Step | undefined {
  const { updateResponse } = command;
  if (updateResponse) {
    if (updateResponse['accepted']) return { command: 'ProtocolMessage', name: 'update accepted' };
    return updateResponse['rejected'] ? undefined : { command: 'ProtocolMessage', name: 'update completed' };
  }
  for (const [field, read] of Object.entries(COMMANDS)) if (command[field]) return read(command[field]);
  return undefined;
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

/** The core's markers hold their details as JSON. */
function markerStep({ markerName, details }: Fields): Step {
  const payloads = details as Record<string, { payloads?: { data?: Uint8Array }[] }> | null;
  const read = (key: string): Record<string, unknown> => {
    const data = payloads?.[key]?.payloads?.[0]?.data;
    try {
      return (data ? JSON.parse(Buffer.from(data).toString()) : {}) as Record<string, unknown>;
    } catch {
      return {};
    }
  };
  const name =
    markerName === 'core_local_activity'
      ? `local activity ${text(read('data')['activity_type']) ?? ''}`
      : markerName === 'core_patch'
        ? `patch ${text(read('patch-data')['id']) ?? ''}`
        : text(markerName);
  return { command: 'RecordMarker', name };
}

function attributeNames(attributes: unknown): string {
  const { indexedFields } = (attributes ?? {}) as { indexedFields?: object | null };
  return Object.keys(indexedFields ?? {})
    .sort()
    .join(', ');
}

function memoKeys(memo: unknown): string {
  return Object.keys((memo as { fields?: object } | null)?.fields ?? {})
    .sort()
    .map((key) => `memo ${key}`)
    .join(', ');
}

function nameOf(type: unknown): string | undefined {
  return text((type as { name?: unknown } | null)?.name);
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

/** Finds where the code's commands and a history's events part, and describes it. */
import { relative } from 'node:path';
import {
  isLocalActivity,
  isPatch,
  stepOfCommand,
  stepOfEvent,
  typeOfEvent,
  type HistoryEvent,
  type Step,
} from './commands.js';
import { callersIn, isRuntime, type Frame } from './frames.js';
import type { SandboxCommand, TracedActivation } from '../../platform/temporal/internal/replay-trace.js';

export interface EventOfHistory {
  id: number;
  /** Type as in Temporal's UI, such as `ActivityTaskScheduled`. */
  type: string;
  /** Type of its activity or child workflow, or name of its signal. */
  name?: string;
}

export interface Difference {
  /** Absent when the code makes a command after the history's last event. */
  event?: EventOfHistory;
  /** Command that the code made instead, such as `StartTimer 5s`; absent when it waits or has failed. */
  did?: string;
  /** The functions that made the command, or that wait or failed, innermost first. */
  callers: Frame[];
}

export interface ReplayProblem {
  /** Temporal's message. */
  message: string;
  /** True if the code takes other steps than the history; false if it threw an error or can't run. */
  isNondeterministic: boolean;
  difference?: Difference;
}

interface Command extends Step {
  stack: string;
}

interface Event extends Step {
  event: HistoryEvent;
}

/**
 * @param activations the last workflow task's, in order
 * @param message Temporal's; it names the event for some differences
 */
export function explain(
  events: readonly HistoryEvent[],
  activations: readonly TracedActivation[],
  message: string,
): Difference {
  const historyLength = activations.at(-1)?.historyLength ?? 0;
  const recorded = eventsAfter(events, historyLength);
  const commands = stepsOf(activations.flatMap((activation) => activation.commands));
  const [event, command] = firstDifference(recorded, commands);
  const named = eventNamedIn(message, events);
  const found = event?.event ?? (command ? undefined : named);
  const waiting = activations.at(-1)?.waiting ?? [];
  return {
    ...(found ? { event: describeEvent(found) } : {}),
    ...(command ? { did: describeStep(command) } : {}),
    callers: command ? callersIn(command.stack) : waitingIn(waiting),
  };
}

/** The event of an error: the workflow task in which the code failed. */
export function eventOfTask(
  events: readonly HistoryEvent[],
  activations: readonly TracedActivation[],
): EventOfHistory | undefined {
  const known = activations.at(-1)?.historyLength ?? 0;
  const started = events.find((event) => idOf(event) > known && event.workflowTaskStartedEventAttributes);
  return started && describeEvent(started);
}

/** `ScheduleActivityTask greet`, `StartTimer 5s`. */
function describeStep({ command, name, duration }: Step): string {
  return [command, name, duration].filter(Boolean).join(' ');
}

/** The command events of the workflow task that starts with event `historyLength`. */
function eventsAfter(events: readonly HistoryEvent[], historyLength: number): Event[] {
  const found: Event[] = [];
  for (const event of events) {
    if (idOf(event) <= historyLength) continue;
    const step = stepOfEvent(event);
    if (step) found.push({ ...step, event });
    // A task that only extends local activities has no commands; the next task continues it.
    else if (event.workflowTaskStartedEventAttributes && found.length > 0) break;
  }
  return found;
}

function stepsOf(commands: readonly { command: SandboxCommand; stack: string }[]): Command[] {
  const open = withoutWithdrawn(commands);
  return open.flatMap(({ command, stack }) => {
    const step = stepOfCommand(command);
    return step ? [{ ...step, stack }] : [];
  });
}

/** Field of a command -> field of the command that withdraws it. Within one workflow task, neither leaves an event. */
const WITHDRAWALS: Record<string, string> = {
  startTimer: 'cancelTimer',
  scheduleActivity: 'requestCancelActivity',
  scheduleLocalActivity: 'requestCancelLocalActivity',
  startChildWorkflowExecution: 'cancelChildWorkflowExecution',
};

function withoutWithdrawn<T extends { command: SandboxCommand }>(commands: readonly T[]): T[] {
  const seqOf = (command: SandboxCommand, field: string) =>
    command[field]?.['seq'] ?? command[field]?.['childWorkflowSeq'];
  return commands.filter(({ command }) =>
    Object.entries(WITHDRAWALS).every(([made, withdrawn]) => {
      const field = command[made] ? withdrawn : command[withdrawn] ? made : undefined;
      if (field === undefined) return true;
      const seq = seqOf(command, command[made] ? made : withdrawn);
      return !commands.some((other) => other.command[field] && seqOf(other.command, field) === seq);
    }),
  );
}

/** The first event and command that differ in kind. */
function firstDifference(
  events: readonly Event[],
  commands: readonly Command[],
): [event: Event | undefined, command: Command | undefined] {
  const isOrdered = (step: Step) => !isLocalActivity(step);
  // Markers of local activities are in the order in which the activities end.
  return (
    ordered(events.filter(isOrdered), commands.filter(isOrdered), false) ??
    ordered(sorted(events), sorted(commands), false) ??
    ordered(events.filter(isOrdered), commands.filter(isOrdered), true) ?? [undefined, undefined]
  );
}

function sorted<T extends Step>(steps: readonly T[]): T[] {
  return steps.filter(isLocalActivity).sort((a, b) => (a.name! < b.name! ? -1 : a.name! > b.name! ? 1 : 0));
}

function ordered(
  events: readonly Event[],
  commands: readonly Command[],
  withIds: boolean,
): [Event | undefined, Command | undefined] | undefined {
  let at = 0;
  for (const command of commands) {
    const event = events[at];
    if (event && isSame(event, command, withIds)) at += 1;
    // Code may announce a patch that the history lacks (deprecatePatch).
    else if (!isPatch(command)) return differenceAt(events, at, commands, commands.indexOf(command));
  }
  return events[at] ? [events[at], undefined] : undefined;
}

/** The event, and the code's command in its place: the first that the history lacks, if the code never makes the event's command. */
function differenceAt(
  events: readonly Event[],
  at: number,
  commands: readonly Command[],
  commandAt: number,
): [Event | undefined, Command | undefined] {
  const event = events[at];
  if (!event || commands.slice(commandAt).some((later) => isSame(event, later, false)))
    return [event, commands[commandAt]];
  const left = [...events];
  const surplus = commands.filter((command) => {
    const same = left.findIndex((one) => isSame(one, command, false) && one.duration === command.duration);
    if (same >= 0) left.splice(same, 1);
    return same < 0;
  });
  // The memo follows from what the code does.
  return [event, surplus.find(({ command: name }) => name !== 'ModifyWorkflowProperties') ?? surplus[0]];
}

function isSame(event: Step, command: Step, withIds: boolean): boolean {
  return (
    event.command === command.command &&
    event.name === command.name &&
    (!withIds || event.id === command.id || event.id === undefined || command.id === undefined)
  );
}

/** The event in Temporal's message: `HistoryEvent(id: 11, TimerStarted)`. */
function eventNamedIn(message: string, events: readonly HistoryEvent[]): HistoryEvent | undefined {
  const [, id] = /HistoryEvent\(id: (\d+)/.exec(message) ?? [];
  return id === undefined ? undefined : events.find((event) => idOf(event) === Number(id));
}

/** Where the code waits, without the runtime, which always waits for the deadline. */
function waitingIn(stacks: readonly string[]): Frame[] {
  return stacks.map(callersIn).find((frames) => frames.length > 0 && !isRuntime(frames)) ?? [];
}

function describeEvent(event: HistoryEvent): EventOfHistory {
  const name = stepOfEvent(event)?.name;
  return { id: idOf(event), type: typeOfEvent(event), name };
}

function idOf({ eventId }: HistoryEvent): number {
  return Number(String(eventId ?? 0));
}

/**
 * One line: `event 6: history has ActivityTaskScheduled countPrimes; the code did StartTimer 5s instead, in nap
 * (workflows/slow_compute.ts:12:9) ([TMPRL1100] Nondeterminism error: ...)`.
 */
export function describeProblem(problem: ReplayProblem): string {
  const { difference, message } = problem;
  if (!difference) return message;
  const [frame] = difference.callers;
  const where = frame ? `, in ${describeFrame(frame)}` : '';
  return `${describeDifference(problem)}${where} (${message})`;
}

export function describeDifference({ difference, message, isNondeterministic }: ReplayProblem): string {
  if (!difference) return message;
  const { event, did } = difference;
  const place = event ? `event ${event.id}: ` : '';
  if (!isNondeterministic) return `${place}the code throws an error: ${message}`;
  const recorded = event
    ? `history has ${[event.type, event.name].filter(Boolean).join(' ')}; `
    : 'history has no further event; ';
  const does = did ? `the code did ${did}${event ? ' instead' : ''}` : "the code doesn't do that and waits";
  return place + recorded + does;
}

/** `nap (workflows/nap.ts:12:9)`. */
export function describeFrame({ function: name, file, line, column }: Frame): string {
  const place = `${shownPath(file)}:${line}:${column}`;
  return name ? `${name} (${place})` : `a function at ${place}`;
}

/** Relative to the working folder, unless the file is outside of it. */
function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}

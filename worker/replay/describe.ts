/** Outcomes of replays as text. */
import { relative } from 'node:path';
import type { EventOfHistory } from './explain.js';
import type { Frame } from './frames.js';
import type { ReplayProblem } from './process.js';

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
  const recorded = event ? `history has ${describeEvent(event)}; ` : 'history has no further event; ';
  const does = did ? `the code did ${did}${event ? ' instead' : ''}` : "the code doesn't do that and waits";
  return place + recorded + does;
}

function describeEvent({ type, name }: EventOfHistory): string {
  return name ? `${type} ${name}` : type;
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

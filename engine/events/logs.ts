/**
 * The logs of an operation and of all its steps as one stream of lines: each log's in their order, several logs' as they come.
 */
import { OPERATION_LOG, type LogLine } from '../../operations/log-page.js';
import type { ChildRecord, ChildStatus } from '../../operations/record.js';
import { isStepEnded, stepReference } from '../../operations/steps.js';
import { logKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import { operationLog, readLinesFrom } from '../logs/index.js';
import type { Position } from '../logs/pieces.js';
import type { LogsPosition } from './position.js';

/** Parts whose logs are told at once, at most; the others' come later. It bounds what a position holds. */
const MOST_PARTS = 32;
/** Steps of those parts, at most; one part may have more. */
const MOST_STEPS = 200;
/** Pages of one log that are told before it is another's turn. */
const PAGES_AT_ONCE = 8;

/** Lines of a log. */
export interface LogTelling {
  kind: 'log';
  /** Reference of the step, `build/2`, or {@link OPERATION_LOG}. */
  step: string;
  /** Name of the step; missing in the operation's own log. */
  name?: string;
  lines: LogLine[];
}

/** What reading the logs has come to. */
export interface LogsRead {
  /** Was there more than one turn takes? */
  isBehind: boolean;
  /** Was everything told that there will ever be? */
  isDone: boolean;
}

/**
 * Tells what the operation's own log has beyond a position, and moves it along.
 *
 * @param position changed in place, before each telling
 * @returns whether there was more than one turn takes
 */
export async function* tellOwnLog(
  storage: Storage,
  workflowId: string,
  position: LogsPosition,
): AsyncGenerator<LogTelling, boolean> {
  const log = operationLog(storage, workflowId);
  for (let pages = 0; pages < PAGES_AT_ONCE; pages += 1) {
    const [line = 1, offset = 0] = position.own ?? [];
    // It is written in whole lines.
    const read = await readLinesFrom(log, OPERATION_LOG, { line, offset }, false);
    if (read.lines.length > 0) {
      position.own = [read.at.line, read.at.offset];
      yield { kind: 'log', step: OPERATION_LOG, lines: read.lines };
    }
    if (read.isAtEnd) return false;
  }
  return true;
}

/**
 * Tells what the steps' logs have beyond a position, and moves it along.
 *
 * @param position changed in place, before each telling
 * @param isClosed has the operation ended? Then no log grows any more
 */
export async function* tellLogs(
  storage: Storage,
  workflowId: string,
  children: ChildRecord[],
  position: LogsPosition,
  isClosed: boolean,
): AsyncGenerator<LogTelling, LogsRead> {
  const done = new Bits(position.done);
  let isBehind = false;
  for (const part of chosen(children, done)) {
    const child = children[part]!;
    const isPartEnded = isClosed || isStepEnded(child);
    let isPartTold = true;
    for (const [index, step] of child.steps.entries()) {
      // What ran in an earlier operation was told there.
      if (step.startedAt === undefined || step.logsOf !== undefined) continue;
      const key = logKey(workflowId, child.name, index + 1);
      const isComplete = isClosed || isStepEnded(step);
      for (let pages = 0; ; pages += 1) {
        const from = positionIn(position, part, index);
        const read = await readLinesFrom(storage, key, from, isComplete);
        if (read.at.offset > from.offset) setPosition(position, part, index, read.at);
        if (read.lines.length > 0) {
          const reference = stepReference({ child: child.name, position: index + 1 });
          yield { kind: 'log', step: reference, name: step.name, lines: read.lines };
        }
        if (read.isAtEnd) break;
        if (pages + 1 >= PAGES_AT_ONCE) {
          [isBehind, isPartTold] = [true, false];
          break;
        }
      }
    }
    if (!isPartEnded || !isPartTold) continue;
    done.add(part);
    position.done = done.toString();
    delete position.at[part];
  }
  return {
    isBehind,
    isDone: isClosed && children.every((child, part) => done.has(part) || !hasStarted(child)),
  };
}

function positionIn({ at }: LogsPosition, part: number, step: number): Position {
  const [line = 1, offset = 0] = at[part]?.slice(2 * step, 2 * step + 2) ?? [];
  return { line: Math.max(1, line), offset };
}

function setPosition({ at }: LogsPosition, part: number, step: number, { line, offset }: Position): void {
  const numbers = (at[part] ??= []);
  while (numbers.length < 2 * step) numbers.push(0);
  numbers.splice(2 * step, 2, line, offset);
}

/** The parts whose logs are to be told now, by their places in the list: it never changes. */
function chosen(children: ChildRecord[], done: Bits): number[] {
  const parts: number[] = [];
  let steps = 0;
  for (const [part, child] of children.entries()) {
    if (done.has(part) || !hasStarted(child)) continue;
    steps += child.steps.length;
    if (parts.length > 0 && (parts.length >= MOST_PARTS || steps > MOST_STEPS)) break;
    parts.push(part);
  }
  return parts;
}

function hasStarted({ steps }: { status: ChildStatus; steps: ChildRecord['steps'] }): boolean {
  return steps.some(({ startedAt, logsOf }) => startedAt !== undefined && logsOf === undefined);
}

/** A set of small numbers as text. */
class Bits {
  #bytes: Buffer;

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'base64url');
  }

  has(number: number): boolean {
    return ((this.#bytes[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  add(number: number): void {
    const at = number >> 3;
    if (at >= this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(at + 1 - this.#bytes.length)]);
    this.#bytes[at]! |= 1 << (number & 7);
  }

  toString(): string {
    return this.#bytes.toString('base64url');
  }
}

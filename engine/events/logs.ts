/** Logs of an operation and all its steps as one stream of lines: in order within a log, interleaved between logs. */
import { OPERATION_LOG, type LogLine } from '../../operations/wire/log-page.js';
import type { ChildRecord, ChildStatus } from '../../operations/record.js';
import { isStepEnded, stepReference } from '../../operations/steps.js';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { operationLogPrefix, stepLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { readLinesFrom } from '../logs/index.js';
import type { Position } from '../logs/pieces.js';
import { nameDigest, textDigest, type LogsPosition } from './position.js';

/** Maximum number of parts to stream at once; the others follow. Bounds the size of a position. */
const MAX_PARTS = 32;
/** Maximum number of those parts' steps; a single part may have more. */
const MAX_STEPS = 200;
/** Maximum number of pages of one log in a pass, before the next log. */
const MAX_PAGES_PER_LOG = 8;

export interface LogEvent {
  kind: 'log';
  /** Reference of the step, `build/2`, or {@link OPERATION_LOG}. */
  step: string;
  /** Name of the step; missing in the operation's own log. */
  name?: string;
  lines: LogLine[];
}

export interface LogsProgress {
  /** Whether a log had more pages than one pass reads. */
  hasMore: boolean;
  /** Whether all logs are complete and delivered. */
  isDone: boolean;
}

/** Yields the own log's lines after a position, changed before each event. @returns whether more pages are left than one pass reads */
export async function* streamOwnLog(
  storage: Storage,
  workflowId: string,
  position: LogsPosition,
): AsyncGenerator<LogEvent, boolean> {
  const log = new ChunkedLog(storage, operationLogPrefix(workflowId));
  for (let pages = 0; pages < MAX_PAGES_PER_LOG; pages += 1) {
    const [line = 1, offset = 0] = position.own ?? [];
    const read = await readLinesFrom(log, { line, offset }, false);
    if (read.lines.length > 0) {
      position.own = [read.at.line, read.at.offset];
      yield { kind: 'log', step: OPERATION_LOG, lines: read.lines };
    }
    if (read.isAtEnd) return false;
  }
  return true;
}

/**
 * Yields the steps' log lines after a position.
 *
 * @param position changed in place, before each event
 * @param isClosed whether the operation has ended, so no log grows
 */
export async function* streamStepLogs(
  storage: Storage,
  workflowId: string,
  children: ChildRecord[],
  position: LogsPosition,
  isClosed: boolean,
): AsyncGenerator<LogEvent, LogsProgress> {
  const done = doneParts(position, children);
  const keys = new Set(children.map(({ name }) => nameDigest(name)));
  for (const key of Object.keys(position.at)) if (!keys.has(key)) delete position.at[key];
  let hasMore = false;
  for (const part of nextParts(children, done)) {
    const child = children[part]!;
    const partKey = nameDigest(child.name);
    const isPartEnded = isClosed || isStepEnded(child);
    let isPartDelivered = true;
    for (const [index, step] of child.steps.entries()) {
      // An earlier operation ran this step and streamed its log.
      if (step.startedAt === undefined || step.logsOf !== undefined) continue;
      const log = new ChunkedLog(storage, stepLogPrefix(workflowId, child.name, index + 1));
      const isComplete = isClosed || isStepEnded(step);
      for (let pages = 0; ; pages += 1) {
        const from = positionIn(position, partKey, index);
        const read = await readLinesFrom(log, from, isComplete);
        if (read.at.offset > from.offset) setPosition(position, partKey, index, read.at);
        if (read.lines.length > 0) {
          const reference = stepReference({ child: child.name, position: index + 1 });
          yield { kind: 'log', step: reference, name: step.name, lines: read.lines };
        }
        if (read.isAtEnd) break;
        if (pages + 1 >= MAX_PAGES_PER_LOG) {
          [hasMore, isPartDelivered] = [true, false];
          break;
        }
      }
    }
    if (!isPartEnded || !isPartDelivered) continue;
    done.add(part);
    position.done = done.toString();
    position.names = namesOf(children, done);
    delete position.at[partKey];
  }
  return {
    hasMore,
    isDone: isClosed && children.every((child, part) => done.has(part) || !hasStarted(child)),
  };
}

/** Parts whose logs were delivered; none if the position belongs to a list with other parts. */
function doneParts({ done, names }: LogsPosition, children: ChildRecord[]): Bits {
  const parts = new Bits(done);
  return names === namesOf(children, parts) ? parts : new Bits('');
}

function namesOf(children: ChildRecord[], { length }: Bits): string {
  return textDigest(JSON.stringify(children.slice(0, length).map(({ name }) => name)));
}

function positionIn({ at }: LogsPosition, part: string, step: number): Position {
  const [line = 1, offset = 0] = at[part]?.slice(2 * step, 2 * step + 2) ?? [];
  return { line: Math.max(1, line), offset };
}

function setPosition({ at }: LogsPosition, part: string, step: number, { line, offset }: Position): void {
  const numbers = (at[part] ??= []);
  while (numbers.length < 2 * step) numbers.push(0);
  numbers.splice(2 * step, 2, line, offset);
}

function nextParts(children: ChildRecord[], done: Bits): number[] {
  const parts: number[] = [];
  let steps = 0;
  for (const [part, child] of children.entries()) {
    if (done.has(part) || !hasStarted(child)) continue;
    steps += child.steps.length;
    if (parts.length > 0 && (parts.length >= MAX_PARTS || steps > MAX_STEPS)) break;
    parts.push(part);
  }
  return parts;
}

function hasStarted({ steps }: { status: ChildStatus; steps: ChildRecord['steps'] }): boolean {
  return steps.some(({ startedAt, logsOf }) => startedAt !== undefined && logsOf === undefined);
}

/** Set of small integers, serialized as base64url. */
class Bits {
  #bytes: Buffer;

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'base64url');
  }

  get length(): number {
    const at = this.#bytes.findLastIndex((byte) => byte !== 0);
    return at < 0 ? 0 : 8 * at + 32 - Math.clz32(this.#bytes[at]!);
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

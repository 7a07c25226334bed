/** Runs one process of a runner to its end, and says how it ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { Collector } from './collect.js';
import { linesOf } from './lines.js';
import { endEarlierAttempt, startRunner, type Command } from './process-group.js';
import type { Problem, TestEvent } from './types.js';

/** A longer line of output is cut here, in UTF-16 code units. */
const LINE_LIMIT = 16_384;
/** The same for an event: a message has 8 KiB at most. */
const EVENT_LIMIT = 262_144;
const LAST_LINES = 10;
/** Time for output to arrive after the last process has ended, in milliseconds. */
const DRAIN_MS = 5_000;

export interface RunOptions extends Command {
  /** Names this work in the environment of its processes, the same for all attempts. */
  marker: string;
  /** File for the PID. */
  record: string;
  /** Without any output for so long, the run counts as hung. */
  silenceMs: number;
  signal: AbortSignal;
  collector: Collector;
  /** Reads events from the output of runners without a reporter of ours. */
  reader?: ((line: string | undefined) => { events: TestEvent[]; text?: string }) | undefined;
  onLine: (line: string) => void;
  onEvent: (event: TestEvent) => void;
}

export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  isHung: boolean;
  lastLines: string[];
  /** Processes of an earlier attempt that had to be ended first. */
  earlier: number;
  /** Processes that outlived the runner, and were ended. */
  outlived: number;
}

export async function runProcess(options: RunOptions): Promise<Ended> {
  const { marker, record, silenceMs, signal, collector, reader, onLine, onEvent } = options;
  signal.throwIfAborted();
  const earlier = await endEarlierAttempt(marker, record);
  const runner = await startRunner(options, marker, record);
  const { child } = runner;
  let isHung = false;
  let ending: Promise<number> | undefined;
  const end = () => (ending ??= runner.end());
  signal.addEventListener('abort', end, { once: true });
  const silence = setTimeout(() => {
    isHung = true;
    void end();
  }, silenceMs);
  const heard = () => void silence.refresh();
  const lastLines: string[] = [];
  const take = (event: TestEvent) => {
    collector.take(event);
    onEvent(event);
  };
  const readOutput = async (stream: Readable) => {
    for await (const line of linesOf(stream, LINE_LIMIT, heard)) {
      const read = reader?.(line);
      read?.events.forEach(take);
      const text = read ? read.text : line;
      if (text === undefined || text.trim() === '') continue;
      lastLines.push(text.slice(0, 300));
      lastLines.splice(0, lastLines.length - LAST_LINES);
      onLine(text);
    }
  };
  const readEvents = async () => {
    for await (const line of linesOf(child.stdio[3] as Readable, EVENT_LIMIT, heard)) {
      const event = parse(line);
      if (event) take(event);
    }
  };
  const reading = Promise.all([readOutput(child.stdout!), readOutput(child.stderr!), readEvents()]);
  // A destroyed stream ends its reading with an error.
  reading.catch(() => undefined);
  try {
    await runner.recorded;
    const how = await runner.exited;
    clearTimeout(silence);
    // Those of a runner that was ended have got their signal already.
    const outlived = ending ? 0 : await runner.end(500);
    await ending;
    await Promise.race([reading, sleep(DRAIN_MS, undefined, { ref: false })]);
    reader?.(undefined).events.forEach(take);
    signal.throwIfAborted();
    return { ...how, isHung, lastLines, earlier, outlived };
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', end);
    await end();
    for (const stream of child.stdio) stream?.destroy();
    await runner.release();
  }
}

/** Why a run can't be taken at its word; undefined for one that ended as its tests explain. */
export function problemOf(
  { exitCode, signal, isHung, lastLines }: Ended,
  { isDone, failed, running, tests }: Collector,
  silenceSeconds: number,
  harmless: readonly number[] = [],
): Omit<Problem, 'run' | 'shard'> | undefined {
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  const known = `${tests.length} tests had ended`;
  if (isHung) {
    const message = `no output for ${silenceSeconds} s: it was ended; ${known}`;
    return { kind: 'hung', message, running, lastLines };
  }
  const isHarmless = exitCode !== null && harmless.includes(exitCode);
  if (!isDone && !isHarmless)
    return {
      kind: 'crashed',
      message: `the runner ${how} before its tests were through; ${known}`,
      running,
      lastLines,
    };
  if (exitCode !== 0 && failed === 0 && !isHarmless)
    return { kind: 'exit_code', message: `the runner ${how} though no test failed`, running, lastLines };
  return undefined;
}

function parse(line: string): TestEvent | undefined {
  try {
    return JSON.parse(line) as TestEvent;
  } catch {
    return undefined; // Cut off: its process was killed as it wrote.
  }
}

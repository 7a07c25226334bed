/** Log of a step: masked, written in batches, limited in size. */
import { stripVTControlCharacters } from 'node:util';
import type { Storage } from '../../platform/storage.js';
import { retryWhileDiskIsFull } from './disk-full.js';
import type { Masking, StreamMasker } from './mask.js';

/** Output is written at once when it reaches this size in bytes or the last write is a pause ago; else after the pause. */
const BATCH_BYTES = 64 * 1024;
const BATCH_PAUSE_MS = 200;
/** Maximum size of a step's log, in bytes. */
const LOG_LIMIT_BYTES = 256 * 1024 * 1024;
/** Size of the log's end that is kept in memory for the last lines, in bytes. */
const TAIL_BYTES = 32 * 1024;
const LAST_LINES = 50;
const LAST_LINES_BYTES = 8 * 1024;
const PROGRESS_LENGTH = 200;
const PROGRESS_INTERVAL_MS = 1_000;

export interface StepLogOptions {
  storage: Storage;
  key: string;
  masking: Masking;
  /** Gets the last whole line, at most once a second. */
  onLine?: (line: string) => void;
  limitBytes?: number;
  /** Ends the waits for room on a full disk, which otherwise last until there is room. */
  stop?: AbortSignal;
}

export class StepLog {
  /** Called when the log can't be written for another reason than a full disk. Later output is dropped. */
  onLost: ((error: unknown) => void) | undefined;
  readonly #masker: StreamMasker;
  #batch: Buffer[] = [];
  #batchBytes = 0;
  #flushedAt = -Infinity;
  #pause: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #size: number | undefined;
  #isFull = false;
  #isLost = false;
  #tail: Buffer = Buffer.alloc(0);
  #progressPause: NodeJS.Timeout | undefined;
  #isLineNew = false;

  constructor(private readonly options: StepLogOptions) {
    this.#masker = options.masking.stream();
  }

  /** Starts the section of a further run. */
  async heading(line: string): Promise<void> {
    const { storage, key } = this.options;
    const size = (await storage.size(key)) ?? 0;
    const last = size ? await storage.read(key, { from: size - 1, lengthBytes: 1 }) : Buffer.from('\n');
    await this.#append(Buffer.from(`${last[0] === 10 ? '' : '\n'}${line}\n`));
  }

  /** Adds output; resolves when more can be added. */
  async write(chunk: Buffer): Promise<void> {
    this.#batch.push(chunk);
    this.#batchBytes += chunk.length;
    const isDue = performance.now() - this.#flushedAt >= BATCH_PAUSE_MS;
    if (isDue || this.#batchBytes >= BATCH_BYTES) await this.#flush();
    else this.#pause ??= setTimeout(() => void this.#flush(), BATCH_PAUSE_MS);
  }

  /** Writes buffered output. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#take(this.#masker.end());
    clearTimeout(this.#progressPause);
  }

  /** The last lines of this run. */
  lastLines(): string[] {
    return lastLinesOf(this.#tail, this.options.masking);
  }

  #flush(): Promise<void> {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    const batch = Buffer.concat(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
    this.#flushedAt = performance.now();
    this.#writing = this.#writing.then(() => this.#take(this.#masker.write(batch)));
    return this.#writing;
  }

  async #take(shown: Buffer): Promise<void> {
    if (shown.length === 0) return;
    this.#tail =
      shown.length >= TAIL_BYTES
        ? Buffer.from(shown.subarray(-TAIL_BYTES))
        : Buffer.concat([this.#tail, shown]).subarray(-TAIL_BYTES);
    if (shown.includes(10)) this.#reportLine();
    if (this.#isLost) return;
    try {
      const { stop, onLine } = this.options;
      await retryWhileDiskIsFull(() => this.#append(shown), { signal: stop, onWait: onLine });
    } catch (error) {
      this.#isLost = true;
      this.onLost?.(error);
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    const { storage, key, limitBytes = LOG_LIMIT_BYTES } = this.options;
    if (this.#isFull) return;
    this.#size ??= (await storage.size(key)) ?? 0;
    const room = limitBytes - this.#size;
    const isFull = bytes.length > room;
    const kept = isFull
      ? Buffer.concat([bytes.subarray(0, Math.max(0, room)), Buffer.from(`\n${limitNotice(limitBytes)}\n`)])
      : bytes;
    await storage.append(key, kept);
    this.#size += kept.length;
    this.#isFull = isFull;
  }

  #reportLine(): void {
    this.#isLineNew = true;
    if (!this.options.onLine || this.#progressPause) return;
    const report = () => {
      this.#progressPause = undefined;
      if (!this.#isLineNew) return;
      this.#isLineNew = false;
      const whole = this.#tail.subarray(0, this.#tail.lastIndexOf(10));
      const line = lastLinesOf(whole, this.options.masking).findLast((text) => text.trim() !== '');
      if (line) this.options.onLine?.(shortened(line.trim()));
      this.#progressPause = setTimeout(report, PROGRESS_INTERVAL_MS);
    };
    report();
  }
}

/** The last lines of the latest run, from the log in storage; each run's section starts with a heading. */
export async function storedLastLines(storage: Storage, key: string, masking: Masking): Promise<string[]> {
  const size = (await storage.size(key)) ?? 0;
  if (size === 0) return [];
  const from = Math.max(0, size - TAIL_BYTES);
  const lines = lastLinesOf(await storage.read(key, { from, lengthBytes: size - from }), masking);
  return lines.slice(lines.findLastIndex((line) => HEADING.test(line)) + 1);
}

/** End of a heading of the first run after a reset. */
const IN_NEW_RUN = ', in a new workflow run';

/**
 * First line of a further run's section of a log.
 *
 * @param isInNewRun whether it is the step's first run in a new run of its workflow, after a reset
 */
export function headingOf(attempt: number, at: Date, isInNewRun = false): string {
  const time = at.toISOString().replace(/\.\d+Z$/, 'Z');
  return `--- attempt ${attempt}, ${time}${isInNewRun ? IN_NEW_RUN : ''}`;
}

const HEADING = new RegExp(`^--- attempt \\d+, \\d{4}-\\d\\d-\\d\\dT[\\d:]+Z(${IN_NEW_RUN})?$`);

/** Lines as a terminal shows them: without escape sequences, and only the last version of a redrawn line. */
function lastLinesOf(tail: Buffer, masking: Masking): string[] {
  const lines = tail.toString().replace(/\n$/, '').split('\n');
  const kept: string[] = [];
  let bytes = 0;
  for (const raw of lines.slice(-LAST_LINES).reverse()) {
    const drawn = stripVTControlCharacters(raw)
      .replace(/(?<!\r)\r+$/, '')
      .split('\r')
      .at(-1)!;
    // Stripping may join the pieces of a secret.
    // eslint-disable-next-line no-control-regex
    const line = masking.text(drawn.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ''));
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > LAST_LINES_BYTES) {
      const room = Buffer.byteLength(line) - (bytes - LAST_LINES_BYTES);
      if (room > 0)
        kept.push(
          Buffer.from(line)
            .subarray(-room)
            .toString()
            .replace(/^\ufffd+/, ''),
        );
      break;
    }
    kept.push(line);
  }
  if (kept.length === 1 && kept[0] === '') return [];
  return kept.reverse();
}

/** Shortens a line without splitting a surrogate pair. */
function shortened(line: string): string {
  return line.slice(0, PROGRESS_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/** The last line of a log that has reached its limit. */
export function limitNotice(limitBytes: number): string {
  return `--- the log has reached its limit of ${sizeText(limitBytes)}: the rest is dropped`;
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
}

/** Log of a step: masked, written in batches, limited in size. */
import { stripVTControlCharacters } from 'node:util';
import { ChunkedLog } from '../../../platform/storage/chunked-log.js';
import { storageErrorIn, type Storage } from '../../../platform/storage/index.js';
import { awaitStorage } from '../../../activities/runtime/await-storage.js';
import type { HeldBytes, Masking, StreamMasker } from './mask.js';
import type { Cursor } from './spool.js';

const LOG_LIMIT_BYTES = 256 * 1024 * 1024;
/** How much of the log's end is kept in memory for the last lines, in bytes. */
const TAIL_BYTES = 32 * 1024;
const LAST_LINES = 50;
const LAST_LINES_BYTES = 8 * 1024;
const PROGRESS_LENGTH = 200;
const PROGRESS_INTERVAL_MS = 1_000;

export interface StepLogOptions {
  storage: Storage;
  prefix: string;
  masking: Masking;
  limitBytes?: number;
  /** Ends waits for storage and for room on a full disk. Default: only writes of output wait, forever. */
  stop?: AbortSignal;
  /** Where an earlier worker's log continues. Default: the stored log's end. */
  from?: Pick<Cursor, 'covered' | 'logBytes'>;
}

export class StepLog {
  /** Called when the log can't be written, unless the disk is full or storage is down. Later output is dropped. */
  onLost: ((error: unknown) => void) | undefined;
  /** Gets the last whole line, at most once a second, and what the log waits for. */
  onLine: ((line: string) => void) | undefined;
  readonly #masker: StreamMasker;
  readonly #log: ChunkedLog;
  #size: number | undefined;
  /** Bytes that are already stored, because an earlier worker was killed before it moved its cursor. */
  #stored = 0;
  #isLost = false;
  #tail: Buffer = Buffer.alloc(0);
  #progressPause: NodeJS.Timeout | undefined;
  #isLineNew = false;

  constructor(private readonly options: StepLogOptions) {
    this.#masker = options.masking.stream(options.from?.covered);
    this.#log = new ChunkedLog(options.storage, options.prefix);
  }

  async size(): Promise<number> {
    const { from, stop: signal } = this.options;
    if (this.#size === undefined) {
      const onWait = (line: string) => this.onLine?.(line);
      const read = () => this.#log.size();
      const size = (await (signal ? awaitStorage(read, { signal, onWait }) : read())) ?? 0;
      this.#stored = Math.max(0, size - (from?.logBytes ?? size));
      this.#size = size - this.#stored;
    }
    return this.#size;
  }

  get appendPauseMs(): number {
    return this.options.storage.appendPauseMs;
  }

  /** Bytes of the output that the log doesn't have yet. */
  get held(): HeldBytes {
    return this.#masker.held;
  }

  /** Starts the section of a further run. */
  async heading(line: string): Promise<void> {
    const size = await this.size();
    const last = size ? await this.#log.read({ from: size - 1, lengthBytes: 1 }) : Buffer.from('\n');
    await this.#append(Buffer.from(`${last[0] === 10 ? '' : '\n'}${line}\n`));
  }

  /** Adds output. Once this resolves, all of it but {@link held} is stored. */
  write(chunk: Buffer): Promise<void> {
    return this.#take(this.#masker.write(chunk));
  }

  /** Writes what is held. */
  async end(): Promise<void> {
    await this.#take(this.#masker.end());
    this.close();
  }

  /** Ends the reports of lines. */
  close(): void {
    clearTimeout(this.#progressPause);
  }

  lastLines(): string[] {
    return lastLinesOf(this.#tail, this.options.masking);
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
      const onWait = (line: string) => this.onLine?.(line);
      await awaitStorage(() => this.#append(shown), { signal: this.options.stop, onWait });
    } catch (error) {
      this.#isLost = true;
      this.onLost?.(error);
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    const { limitBytes = LOG_LIMIT_BYTES } = this.options;
    const size = await this.size();
    // Only the notice follows the limit.
    if (size > limitBytes) return;
    const room = limitBytes - size;
    const kept =
      bytes.length > room
        ? Buffer.concat([bytes.subarray(0, room), Buffer.from(`\n${limitNotice(limitBytes)}\n`)])
        : bytes;
    const stored = Math.min(this.#stored, kept.length);
    if (stored < kept.length) await this.#log.appendAt(size + stored, kept.subarray(stored));
    this.#stored -= stored;
    this.#size = size + kept.length;
  }

  #reportLine(): void {
    this.#isLineNew = true;
    if (!this.onLine || this.#progressPause) return;
    const report = () => {
      this.#progressPause = undefined;
      if (!this.#isLineNew) return;
      this.#isLineNew = false;
      const whole = this.#tail.subarray(0, this.#tail.lastIndexOf(10));
      const line = lastLinesOf(whole, this.options.masking).findLast((text) => text.trim() !== '');
      if (line) this.onLine?.(shortened(line.trim()));
      this.#progressPause = setTimeout(report, PROGRESS_INTERVAL_MS);
    };
    report();
  }
}

/** The latest run's last lines, from the log in storage; each run's section starts with a heading. Empty while storage is down. */
export async function storedLastLines(log: ChunkedLog, masking: Masking): Promise<string[]> {
  try {
    return await readLastLines(log, masking);
  } catch (error) {
    // The step's end is known anyway.
    if (storageErrorIn(error)) return [];
    throw error;
  }
}

async function readLastLines(log: ChunkedLog, masking: Masking): Promise<string[]> {
  const size = (await log.size()) ?? 0;
  if (size === 0) return [];
  const from = Math.max(0, size - TAIL_BYTES);
  const lines = lastLinesOf(await log.read({ from, lengthBytes: size - from }), masking);
  return lines.slice(lines.findLastIndex((line) => HEADING.test(line)) + 1);
}

/** Suffix of the first heading after a reset. */
const IN_NEW_RUN = ', in a new workflow run';

/** First line of a further run's section of a log. @param isInNewRun whether it is the step's first run after a reset */
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

export function limitNotice(limitBytes: number): string {
  return `--- the log has reached its limit of ${sizeText(limitBytes)}: the rest is dropped`;
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
}

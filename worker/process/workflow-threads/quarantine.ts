/** Runs whose evaluation ended its thread or worker twice: for ten minutes no worker of the queue runs their code. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from '../../../platform/observe/log.js';
import {
  describeFatal,
  isFatal,
  quarantinedUntil,
  QUARANTINE_MS,
  type FatalEvaluation,
} from '../../../platform/storage/fatal-evaluations.js';
import type { Storage, StoredValue } from '../../../platform/storage/index.js';
import { FATAL_PREFIX, fatalPrefix } from '../../../platform/storage/keys.js';
import { withTimeout } from '../../../platform/with-timeout.js';
import { newProcessFile, takeOverProcessFiles } from '../../../platform/home/process-files.js';

/** Age of the list of evaluations, in milliseconds: one request serves all runs that are replayed meanwhile. */
const LIST_MS = 2_000;
/** Time to wait for storage, in milliseconds. Without an answer the code runs. */
const STORAGE_LIMIT_MS = 2_000;
const FORGOTTEN_MS = 6 * QUARANTINE_MS;

/** A run, and the digest of the code that it runs with: corrected code isn't quarantined. */
export interface CodeOfRun {
  runId: string;
  code: string;
}

type EndsOfRuns = ReadonlyMap<string, readonly StoredValue[]>;

export class Quarantine {
  #list: { ends: Promise<EndsOfRuns>; atMs: number } | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly logger: Logger,
  ) {}

  /** @param id of the evaluation: once more with the same one changes nothing */
  async add(run: CodeOfRun, id: string, evaluation: FatalEvaluation): Promise<void> {
    await this.#try(this.storage.put(fatalPrefix(run) + id, Buffer.from(JSON.stringify(evaluation))));
    this.#list = undefined;
  }

  async remove(run: CodeOfRun, id: string): Promise<void> {
    await this.#try(this.storage.remove(fatalPrefix(run) + id));
  }

  /** Why the run's code must not run now; undefined if it may, or if storage doesn't answer. */
  async reasonFor(run: CodeOfRun): Promise<string | undefined> {
    const ends = (await this.#try(this.#ends()))?.get(fatalPrefix(run)) ?? [];
    return quarantinedUntil(ends) && this.#try(describeFatal(this.storage, run));
  }

  #ends(): Promise<EndsOfRuns> {
    const nowMs = performance.now();
    if (!this.#list || nowMs - this.#list.atMs > LIST_MS)
      this.#list = { ends: this.#listEnds(), atMs: nowMs };
    return this.#list.ends;
  }

  async #listEnds(): Promise<EndsOfRuns> {
    const ends = new Map<string, StoredValue[]>();
    for await (const end of this.storage.list(FATAL_PREFIX)) {
      const prefix = end.key.slice(0, end.key.lastIndexOf('/') + 1);
      if (end.changedAt.getTime() < Date.now() - FORGOTTEN_MS) await this.storage.remove(end.key);
      else if (isFatal(end) && ends.get(prefix)?.push(end) === undefined) ends.set(prefix, [end]);
    }
    return ends;
  }

  async #try<T>(work: Promise<T>): Promise<T | undefined> {
    const logged = work.catch((error: unknown) => {
      this.logger.warn({ err: error }, 'storage has no record of workflows that end their workers');
      return undefined;
    });
    return withTimeout(logged, STORAGE_LIMIT_MS);
  }
}

/** Text of a record without work. */
const NOTHING = Buffer.from('\n');

/** Value that storage gets if the process ends now, and its key. */
interface Crash {
  key: string;
  value: object;
}

/**
 * The work of a process when it crashed: a file of the home, written before each piece of work that can end the process. The
 * next worker of the home puts it into storage, where all workers see it.
 */
export class CrashRecord {
  readonly #path: string;
  readonly #file: number;

  constructor(home: string) {
    const folder = folderOf(home);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#path = newProcessFile(folder);
    this.#file = openSync(this.#path, 'w', 0o600);
  }

  /** Differs for every record. */
  get id(): string {
    return basename(this.#path);
  }

  /** Costs one small write to the page cache, which outlives the process. A full disk loses it. @param bytes of {@link crashBytes} */
  set(bytes: Buffer = NOTHING): void {
    try {
      writeSync(this.#file, bytes, 0, bytes.length, 0);
    } catch {
      // The work counts for more than its record.
    }
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

export function crashBytes(crash: Crash): Buffer {
  return Buffer.from(`${JSON.stringify(crash)}\n`);
}

/** Stores what processes of this home were doing when they ended without closing their records. */
export async function storeCrashes(home: string, storage: Storage): Promise<void> {
  for (const path of takeOverProcessFiles(folderOf(home))) {
    const crash = crashIn(readFileSync(path, 'utf8'));
    if (crash) await storage.put(crash.key, Buffer.from(JSON.stringify(crash.value)));
    rmSync(path, { force: true });
  }
}

function crashIn(text: string): Crash | undefined {
  const [line] = text.split('\n', 1);
  try {
    return line ? (JSON.parse(line) as Crash) : undefined;
  } catch {
    // The process ended within the write.
    return undefined;
  }
}

function folderOf(home: string): string {
  return join(home, 'crash-records');
}

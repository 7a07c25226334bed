/** Clocks that jump: libfaketime, preloaded into processes, adds an offset to the time of day that they read. */
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unpackDebianPackages } from '../../support/debian-packages.js';

/** The variant for programs with threads: it also converts the deadlines of waits on condition variables and semaphores. */
const LIBRARY = 'libfaketimeMT.so.1';

/**
 * A clock of some processes: those that are started with its {@link Clock.environment}, and their children. It reaches programs
 * that call the C library, e.g. Node.js and Python, but not those in Go.
 */
export class Clock {
  readonly environment: Readonly<Record<string, string>>;

  private constructor(
    library: string,
    private readonly file: string,
  ) {
    this.environment = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // Without a cache, each read of the clock reads the file: 7 us each, and 0.6 us with a cache.
      FAKETIME_CACHE_DURATION: '1',
      // Timers and durations stay real, as on a host whose clock is set.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Node.js reads times of files by statx(2), which is not faked either way.
      NO_FAKE_STAT: '1',
    };
  }

  /** Creates a clock that shows the real time. @param folder for the file with its offset */
  static async create(folder: string): Promise<Clock> {
    const library = await findLibrary();
    mkdirSync(folder, { recursive: true });
    const clock = new Clock(library, join(folder, 'clock'));
    clock.jump(0);
    return clock;
  }

  /**
   * Sets the clock. Its processes see it within a second.
   *
   * @param seconds ahead of the real time, or behind if negative; 0: the real time
   */
  jump(seconds: number): void {
    // Replaced whole: a process may read it at any moment.
    writeFileSync(`${this.file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}

/** The installed library, or Debian's package in the user's cache. */
async function findLibrary(): Promise<string> {
  const installed = libraryBelow('/');
  if (installed) return installed;
  const unpacked = await unpackDebianPackages(
    'libfaketime',
    resolve('test/chaos/faults/debian-packages.txt'),
  );
  const library = libraryBelow(unpacked);
  if (!library) throw new Error(`${LIBRARY} is not in Debian's package, unpacked in ${unpacked}`);
  return library;
}

/** Debian keeps it in the folder of the machine's architecture. */
function libraryBelow(root: string): string | undefined {
  const libraries = join(root, 'usr/lib');
  return readdirSync(libraries)
    .map((architecture) => join(libraries, architecture, 'faketime', LIBRARY))
    .find((path) => existsSync(path));
}

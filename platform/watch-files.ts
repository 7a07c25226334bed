/**
 * Notices edits of files by looking at them again and again: works on every file system, and costs a stat a file. An edit
 * counts once the files have been left alone for one look, so that half-written files are rarely read.
 */
import { statSync } from 'node:fs';

/** Pause between two looks, in milliseconds. */
const INTERVAL_MS = 500;

/** How far the times of files may be behind the clock, in milliseconds. */
const CLOCK_TICK_MS = 20;

type Versions = ReadonlyMap<string, string>;

/** Tells edits of a file: time of its last change, size, and which file it is. Undefined when there is none. */
export function versionOf(path: string): string | undefined {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Calls `reload` after edits, and never again while it runs. Doesn't keep the process running.
 *
 * @param paths what counts now; may change with each load
 * @param reload loads what has changed; a rejection ends nothing, it is for `onError`
 * @param loadedSinceMs when the files were first read: later edits count
 * @returns ends it
 */
export function watchFiles(
  paths: () => string[],
  reload: () => Promise<void>,
  { onError, loadedSinceMs }: { onError: (error: unknown) => void; loadedSinceMs: number },
): () => void {
  let loaded = versionsOf(paths(), new Map(), loadedSinceMs);
  let changed: Versions | undefined;
  let timer: NodeJS.Timeout;
  let isEnded = false;
  const look = async () => {
    const now = versionsOf(paths());
    if (areSame(now, loaded)) changed = undefined;
    else if (!changed || !areSame(now, changed)) changed = now;
    else {
      const startedMs = Date.now();
      try {
        await reload();
      } finally {
        loaded = versionsOf(paths(), now, startedMs);
        changed = undefined;
      }
    }
  };
  const next = () => {
    if (isEnded) return;
    timer = setTimeout(() => void look().catch(onError).finally(next), INTERVAL_MS);
    timer.unref();
  };
  next();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/**
 * @param before versions that were read; another one now is an edit to come
 * @param sinceMs a file without a version before that was changed later than this counts as edited too
 */
function versionsOf(paths: string[], before: Versions = new Map(), sinceMs = Infinity): Versions {
  const nowMs = Date.now();
  return new Map(
    paths.map((path) => {
      const version = before.get(path) ?? versionOf(path) ?? '';
      const changedMs = Number.parseFloat(version);
      // The future is another machine's clock.
      const isEdited = !before.has(path) && changedMs > sinceMs - CLOCK_TICK_MS && changedMs <= nowMs;
      return [path, isEdited ? `${version} edited` : version];
    }),
  );
}

function areSame(one: Versions, other: Versions): boolean {
  return one.size === other.size && [...one].every(([path, version]) => other.get(path) === version);
}

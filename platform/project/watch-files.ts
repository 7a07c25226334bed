/** Detects edits by polling, which works on every file system. An edit counts once the files stay unchanged for one interval. */
import { statSync } from 'node:fs';
import { attempt } from '../../operations/errors.js';

const INTERVAL_MS = 500;

/** How far file times may lag behind the clock. */
const CLOCK_TICK_MS = 20;

type Versions = ReadonlyMap<string, string>;

/** Changes with an edit: modification time, size and inode. Undefined for a missing file. */
export function versionOf(path: string): string | undefined {
  const found = attempt(() => statSync(path));
  return found && `${found.mtimeMs} ${found.size} ${found.ino}`;
}

/**
 * Calls `reload` after edits, one call at a time. Doesn't keep the process alive.
 *
 * @param paths returns the watched paths; may change with each load
 * @param loadedSinceMs when the files were first read, epoch milliseconds: later edits count
 * @returns a function that stops the watch
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
        loaded = withDeleted(versionsOf(paths(), now, startedMs), now);
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

/** @param sinceMs a file that isn't in `before` counts as edited if it changed after this time */
function versionsOf(paths: string[], before: Versions = new Map(), sinceMs = Infinity): Versions {
  return new Map(
    paths.map((path) => {
      const version = before.get(path) ?? versionOf(path) ?? '';
      // The other clock has whole milliseconds.
      const changedMs = Math.floor(Number.parseFloat(version));
      // A future time comes from another machine's clock.
      const isEdited = !before.has(path) && changedMs > sinceMs - CLOCK_TICK_MS && changedMs <= Date.now();
      return [path, isEdited ? `${version} edited` : version];
    }),
  );
}

/** Adds files that disappeared during a load, which may have read them. */
function withDeleted(after: Versions, before: Versions): Versions {
  const deleted = [...before].filter(
    ([path, version]) => version !== '' && !after.has(path) && versionOf(path) === undefined,
  );
  return new Map([...after, ...deleted]);
}

function areSame(one: Versions, other: Versions): boolean {
  return one.size === other.size && [...one].every(([path, version]) => other.get(path) === version);
}

/** The main thread's stack, as people may see it. */
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const STACK_FRAMES = 40;
/** A failure shows so many frames. */
const SHOWN_FRAMES = 8;
/** Frames of the sampling itself: this file's function, the watchdog's two, and the inspector's expression. */
const OWN_FRAMES = 4;
const INTERNAL = /\(node:internal\/|at node:internal\/|[\\/]node_modules[\\/]@temporalio[\\/]/;
/** The worker's program, which has this file. */
const OWN_FILE = fileURLToPath(import.meta.url);
const PATH = /(?:file:\/\/)?(\/[^():]+)(?=:\d+:\d+)/;

export function currentStack(): string {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is put back as it is
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder: { stack?: string } = {};
  try {
    Error.stackTraceLimit = STACK_FRAMES;
    // An author's library may return anything else than text.
    (Error as { prepareStackTrace?: unknown }).prepareStackTrace = undefined;
    Error.captureStackTrace(holder);
    return holder
      .stack!.split('\n')
      .slice(1 + OWN_FRAMES)
      .join('\n');
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}

/** The author's frames, without paths of the host: a path within the project, or the file's name. */
export function shownFrames(stack: string, project: string): string[] {
  return stack
    .split('\n')
    .filter((line) => !INTERNAL.test(line) && !line.includes(OWN_FILE))
    .slice(0, SHOWN_FRAMES)
    .map((line) => line.trim().replace(PATH, (_whole, path: string) => shownPath(path, project)));
}

function shownPath(path: string, project: string): string {
  return path.startsWith(`${project}/`) ? relative(project, path) : basename(path);
}

/** Lines for people. */

/** What was asked for, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Notices on the way, on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** 128 + 13, as shells show a process that SIGPIPE ended. Node.js ignores that signal and gets an error instead. */
const READER_GONE = 141;

/**
 * Ends the process once standard output can't be written: quietly with 141 when its reader has gone (`| head -1`), with a
 * line and 1 for other reasons. For commands that are there for their output; a stack outlives its reader.
 */
export function exitWhenOutputCloses(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') say(`longhaul: standard output can't be written: ${message}`);
    process.exit(code === 'EPIPE' ? READER_GONE : 1);
  });
}

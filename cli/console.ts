/** Output of commands. */

/** Prints a result on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a notice on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** 128 + 13, as shells show a process that SIGPIPE ended. Node.js ignores that signal and gets an error instead. */
const READER_GONE = 141;

/**
 * Exits once standard output can't be written: silently with 141 when its reader has closed it (`| head -1`), with a message
 * and 1 otherwise. For commands that only produce output; a stack outlives its reader.
 */
export function exitWhenOutputCloses(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') say(`longhaul: standard output can't be written: ${message}`);
    process.exit(code === 'EPIPE' ? READER_GONE : 1);
  });
}

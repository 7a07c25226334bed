/** Lines for people. */

/** What was asked for, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Notices on the way, on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

import type { Command } from 'commander';
import type { Completion } from '../client/completion.js';
import { exitOnceWritten, print } from '../console.js';

/** Time limit for completion including the server's answer, from this process's start, in milliseconds. */
const LIMIT_MS = 900;
const LEAST_MS = 200;
/** Values that need no quoting in any shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;
const NOTE_CHARACTERS = 80;

/** `longhaul complete`, which the scripts of `longhaul completion` call. */
export function define(command: Command): void {
  command.argument('[words...]').action(async (words: string[]) => {
    const { completionsFor } = await import('../client/completion.js');
    const limitMs = Math.max(LEAST_MS, LIMIT_MS - process.uptime() * 1_000);
    const late = new Promise<Completion>((settle) => setTimeout(settle, limitMs, []));
    // Completion is silent about errors.
    const found = await Promise.race([completionsFor(command.parent!, words).catch(() => []), late]);
    const { oneLine } = await import('../client/table.js');
    const lines =
      found === 'files'
        ? [':files']
        : found
            .filter(({ value }) => PLAIN.test(value))
            .map(({ value, note = '' }) => `${value}\t${oneLine(note).slice(0, NOTE_CHARACTERS)}`);
    for (const line of lines) print(line);
    exitOnceWritten(0);
  });
}

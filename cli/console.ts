/** The output of commands. Escapes whatever comes from outside; a lint rule forbids writing elsewhere. */
import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { escapeControls, escapeLine, jsonText } from './terminal/terminal-text.js';

/** Standard output for results, standard error for notices. */
export type Output = 'stdout' | 'stderr';

/** One of our own control sequences. Never make one from outside text. */
export class Sequence {
  constructor(readonly text: string) {}
}

/** Prints a result on standard output. */
export function print(text: string): void {
  write('stdout', `${text}\n`);
}

/** Prints a notice on standard error. */
export function say(text: string): void {
  write('stderr', `${text}\n`);
}

/** Writes text without a final line break. */
export function write(output: Output, text: string): void {
  process[output].write(escapeControls(text));
}

/** Prints one line of JSON on standard output. */
export function printJson(document: unknown): void {
  process.stdout.write(`${jsonText(document)}\n`);
}

/** Prints a tool's output: escaped at a terminal, unchanged into a file or a pipe. */
export function printData(text: string): void {
  if (process.stdout.isTTY) print(text);
  else process.stdout.write(`${text}\n`);
}

/** Writes text to standard output that is already escaped, or doesn't go to a terminal. */
export async function writeEscaped(text: string): Promise<void> {
  await new Promise((settle) => process.stdout.write(text, settle));
}

/** Writes bytes unchanged to standard output, which must not be a terminal. */
export async function writeBytes(bytes: Readable): Promise<void> {
  await pipeline(bytes, process.stdout, { end: false });
}

/** Draws at a terminal: escapes texts, which are parts of lines, and writes sequences unchanged. */
export function draw(output: Output, ...parts: (string | Sequence)[]): void {
  process[output].write(drawing(parts));
}

/** Like {@link draw}, also while the process ends. */
export function drawNow(output: Output, ...parts: (string | Sequence)[]): void {
  writeSync(process[output].fd, drawing(parts));
}

function drawing(parts: (string | Sequence)[]): string {
  return parts.map((part) => (typeof part === 'string' ? escapeLine(part) : part.text)).join('');
}

/** Exits with `process.exitCode` once standard output is written, even if something keeps the process alive. */
export function exitOnceWritten(): void {
  process.stdout.write('', () => process.exit());
}

/** 128 + 13, as shells show a process that SIGPIPE ended. Node.js ignores that signal and gets an error instead. */
const READER_GONE = 141;

/**
 * Exits once standard output can't be written: silently with 141 if its reader closed it (`| head -1`), else with a message and
 * 1. Not for stacks, which outlive their reader.
 */
export function exitWhenOutputCloses(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') say(`longhaul: standard output can't be written: ${message}`);
    process.exit(code === 'EPIPE' ? READER_GONE : 1);
  });
}

/** A path relative to the working folder, if it is within it. */
export function shortestPath(path: string): string {
  const shown = relative('', path);
  return shown.startsWith('..') ? path : shown;
}

/** History files: JSON from Temporal's command line or UI, optionally compressed (`.gz`). */
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { History } from '@temporalio/worker';
import { historyFromJSON } from '../../platform/temporal/internal/history-json.js';

/** A file without a usable history. The message names the file, and line and column if known. */
export class HistoryFileError extends Error {
  override name = 'HistoryFileError';
}

const EXPECTED = 'expected a history as JSON, with its events';

/** Reads a history written by `temporal workflow show --output json`, Temporal's UI ("Download") or a test. @throws HistoryFileError */
export async function readHistoryFile(path: string): Promise<History> {
  const text = await readText(path);
  const events = eventsIn(path, text);
  try {
    return historyFromJSON({ events });
  } catch (error) {
    throw new HistoryFileError(
      `${path}: ${EXPECTED}; got ${firstBadEvent(events) ?? (error as Error).message}`,
    );
  }
}

async function readText(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new HistoryFileError(
      `${path}: expected a history as JSON; ${isMissing ? 'there is no such file' : (error as Error).message}`,
    );
  }
  try {
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  } catch (error) {
    throw new HistoryFileError(`${path}: ${EXPECTED}; it can't be decompressed: ${(error as Error).message}`);
  }
}

function eventsIn(path: string, text: string): object[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    const { place, message } = syntaxError(text, error as Error);
    throw new HistoryFileError(`${path}${place}: ${EXPECTED}; ${message}`);
  }
  // Older versions of the UI write the bare list.
  const events = Array.isArray(content) ? content : (content as { events?: unknown } | null)?.events;
  if (!Array.isArray(events)) throw new HistoryFileError(`${path}: ${EXPECTED}; got ${shortened(text)}`);
  if (events.length === 0) throw new HistoryFileError(`${path}: ${EXPECTED}; got no event`);
  const [first] = events as ({ eventId?: unknown } | null)[];
  if (String(first?.eventId) !== '1')
    throw new HistoryFileError(
      `${path}: expected a history from its first event; got ${shortened(JSON.stringify(first))} at its begin`,
    );
  const odd = events.findIndex(
    (event, at) => Number((event as { eventId?: unknown } | null)?.eventId) !== at + 1,
  );
  if (odd >= 0)
    throw new HistoryFileError(
      `${path}: expected event ${odd + 1} after event ${odd}; got ${shortened(JSON.stringify(events[odd]))}`,
    );
  return events as object[];
}

/** Line and column of a syntax error. V8 gives no position at the end of the text. */
function syntaxError(text: string, { message }: Error): { place: string; message: string } {
  const [, found] = / at position (\d+)/.exec(message) ?? [];
  const at = found === undefined ? text.length : Number(found);
  const before = text.slice(0, at).split('\n');
  const place = `:${before.length}:${before.at(-1)!.length + 1}`;
  if (at >= text.trimEnd().length) return { place, message: 'the file ends too early' };
  return { place, message: message.replace(/ at position \d+.*/s, '') };
}

function firstBadEvent(events: readonly object[]): string | undefined {
  for (const event of events)
    try {
      historyFromJSON({ events: [event] });
    } catch (error) {
      const { eventId } = event as { eventId?: unknown };
      return `event ${String(eventId)}: ${shortened((error as Error).message)}`;
    }
  return undefined;
}

function shortened(text: string | undefined): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 100)}...` : line;
}

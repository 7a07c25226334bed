/** Cursors of logs: position and filters of the next page. They aren't sealed, since access is checked on the record. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';
import { PATTERN_CHARACTERS } from '../../operations/log-page.js';

const line = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

const shape = z.strictObject({
  step: z.string().min(1).max(1000).optional(),
  /** Line at `offset`, from 1. */
  line,
  /** In bytes, from 0. */
  offset: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  fromLine: line.optional(),
  toLine: line.optional(),
  pattern: z.string().max(PATTERN_CHARACTERS).optional(),
});

export type LogCursor = z.infer<typeof shape>;

export function writeCursor(cursor: LogCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Decodes a cursor. @throws LonghaulError `invalid_arguments` */
export function readCursor(text: string): LogCursor {
  const bytes = Buffer.from(text, 'base64url');
  // Buffer ignores characters outside base64url.
  if (bytes.toString('base64url') !== text) throw invalidCursor();
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString());
  } catch {
    throw invalidCursor();
  }
  const cursor = shape.safeParse(json);
  if (!cursor.success) throw invalidCursor();
  return cursor.data;
}

export function invalidCursor(): LonghaulError {
  return new LonghaulError(
    'invalid_arguments',
    'cursor: expected one from an earlier page of this log, unchanged; got another text',
  );
}

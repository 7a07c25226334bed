/** Encodes any text (tokens, workflow IDs, artifact names) as a file name. */
import { createHash } from 'node:crypto';
import { attempt } from '../../operations/errors.js';
import { isTemporaryPath } from './atomic-files.js';

/** Longer names are hashed: file systems allow 255 bytes, and temporary files add a suffix. */
const LONGEST_NAME_BYTES = 200;
/** A hashed name: the beginning of the encoded text, and a hash. */
const HASHED = /^(.{100})~[0-9a-f]{32}$/;

/**
 * Percent-encodes a text as a file name, with a hash at the end of a long one. Different texts get different names, which are
 * never `.`, `..`, a temporary file's, or a hashed name by accident.
 *
 * @throws RangeError for an empty text
 */
export function encodeFileName(text: string): string {
  if (text === '') throw new RangeError('expected the name of a file; got an empty text');
  const encoded = encodeURIComponent(text);
  if (encoded.length > LONGEST_NAME_BYTES)
    return `${encoded.slice(0, 100)}~${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  if (/^\.{1,2}$/.test(encoded)) return encoded.replaceAll('.', '%2E');
  if (HASHED.test(encoded)) return encoded.replaceAll('~', '%7E');
  return isTemporaryPath(encoded) ? encoded.replace(/\.tmp$/, '%2Etmp') : encoded;
}

/** Decodes a file name. @returns `beginning` for a hashed name; undefined for a name that {@link encodeFileName} didn't make */
export function decodeFileName(name: string): { text: string } | { beginning: string } | undefined {
  const [, cut] = HASHED.exec(name) ?? [];
  if (cut === undefined) {
    const text = attempt(() => decodeURIComponent(name));
    return text === undefined ? undefined : { text };
  }
  // The cut may be within an escape, or within a character of up to four escapes.
  for (let length = cut.length; length > 0; length -= 1) {
    const beginning = attempt(() => decodeURIComponent(cut.slice(0, length)));
    if (beginning !== undefined) return { beginning };
  }
  return undefined;
}

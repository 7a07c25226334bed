import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { contentOf, isGzipName } from './content.js';
import type { Utf16 } from './content.js';
import { DatasetError } from './errors.js';
import type { LocatedFile } from './locate.js';
import { quotedShellWord } from '../../platform/program.js';

/** Detects UTF-16 by its byte order mark, or because every second byte is 0 in most texts. */
export function utf16Of(head: Buffer): { encoding: Utf16; isGuess: boolean } | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', isGuess: false };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', isGuess: false };
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2]! += 1;
  const half = head.length / 2;
  if (zeros[1]! > half * 0.4 && zeros[0]! < half * 0.1) return { encoding: 'utf-16le', isGuess: true };
  if (zeros[0]! > half * 0.4 && zeros[1]! < half * 0.1) return { encoding: 'utf-16be', isGuess: true };
  return undefined;
}

/** Length of `bytes` without an incomplete character at the end. */
export function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/**
 * Refuses text that isn't UTF-8: which of the many 8-bit encodings it has can only be guessed, and a wrong guess would
 * change values silently. Does nothing when all of the file is UTF-8.
 *
 * @throws DatasetError unreadable, with the place of the first wrong byte and a command that converts the file
 */
export async function assertUtf8(file: LocatedFile): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  let line = 1;
  for await (const chunk of contentOf(file)) {
    const window = Buffer.concat([rest, chunk]);
    const whole = wholeCharacters(window);
    const text = window.subarray(0, whole);
    if (!isUtf8(text)) throw notUtf8(file, text, offset, line);
    line += linesIn(text);
    offset += whole;
    rest = window.subarray(whole);
  }
  if (rest.length > 0) throw notUtf8(file, rest, offset, line);
}

function notUtf8(file: LocatedFile, text: Buffer, offset: number, line: number): DatasetError {
  const at = firstInvalid(text);
  const byte = text[at]!;
  const utf32 = offset === 0 && text.subarray(0, 4).equals(Buffer.from([0xff, 0xfe, 0, 0]));
  const encoding = utf32 ? 'UTF-32' : 'WINDOWS-1252';
  const probably = utf32 ? 'UTF-32' : 'Windows-1252 or Latin-1 (Western European)';
  const name = path.basename(file.name);
  const source = quotedShellWord(name);
  const target = quotedShellWord(name.replace(/(\.[a-z]+)(\.gz)?$/i, '.utf8$1$2'));
  const command = isGzipName(name)
    ? `gunzip -c ${source} | iconv -f ${encoding} -t UTF-8 | gzip > ${target}`
    : `iconv -f ${encoding} -t UTF-8 ${source} > ${target}`;
  return new DatasetError(
    'unreadable',
    `path: ${file.name} is expected to be UTF-8 or UTF-16 text; line ${line + linesIn(text.subarray(0, at))}, byte ` +
      `${offset + at + 1} of the file is 0x${byte.toString(16).toUpperCase().padStart(2, '0')}, which is not UTF-8. ` +
      `It is probably ${probably}; convert it with: ${command}`,
  );
}

/** Index of the first byte that is no part of a valid character. */
function firstInvalid(text: Buffer): number {
  let at = 0;
  while (at < text.length) {
    const byte = text[at]!;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (!isUtf8(text.subarray(at, at + length))) return at;
    at += length;
  }
  return Math.max(0, text.length - 1);
}

function linesIn(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines += 1;
  return lines;
}

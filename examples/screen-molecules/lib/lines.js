/** Lines of a file of any size by byte ranges. A line ends with \n, \r\n or \r, in any mix; the last one needs no end. */
import { Buffer } from 'node:buffer';
import { createReadStream } from 'node:fs';

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf];
/** Longest line that is read, in bytes; the longest drugs have SMILES of some hundred characters. */
export const LINE_LIMIT = 4096;

/**
 * A part of the file, from the beginning of a line to the beginning of another.
 *
 * @typedef {object} Chunk
 * @property {number} from first byte
 * @property {number} to byte after the last one
 * @property {number} line number of its first line, from 1
 * @property {number} lines
 */

/**
 * Divides a file into chunks of whole lines, in one pass that keeps nothing of the file.
 *
 * @param {string} path
 * @param {number} chunkBytes least size of a chunk but for the last
 * @param {AbortSignal} [signal]
 * @returns {Promise<Chunk[]>} none for an empty file
 */
export async function planChunks(path, chunkBytes, signal) {
  /** @type {Chunk[]} */
  const chunks = [];
  let chunk = { from: 0, to: 0, line: 1, lines: 0 };
  let position = 0;
  let afterCr = false;
  let isLineOpen = false;
  const endLine = () => {
    chunk.lines += 1;
    isLineOpen = false;
  };
  /** @param {number} start where the next line begins */
  const startLine = (start) => {
    if (start - chunk.from < chunkBytes) return;
    chunks.push({ ...chunk, to: start });
    chunk = { from: start, to: start, line: chunk.line + chunk.lines, lines: 0 };
  };
  for await (const bytes of createReadStream(path, { signal, highWaterMark: 1 << 20 })) {
    for (const byte of /** @type {Buffer} */ (bytes)) {
      // The \n of a \r\n belongs to the line that the \r has ended.
      if (afterCr) startLine(byte === LF ? position + 1 : position);
      if (byte === CR || (byte === LF && !afterCr)) endLine();
      else if (byte !== LF) isLineOpen = true;
      if (byte === LF && !afterCr) startLine(position + 1);
      afterCr = byte === CR;
      position += 1;
    }
  }
  if (isLineOpen) endLine();
  if (chunk.lines > 0) chunks.push({ ...chunk, to: position });
  return chunks;
}

/**
 * The lines of a chunk, without their ends and the file's byte order mark.
 *
 * @param {string} path
 * @param {Chunk} chunk
 * @returns {AsyncGenerator<{ line: number, text: string, isTooLong: boolean }>}
 */
export async function* readLines(path, { from, to, line }) {
  /** @type {number[]} */
  let kept = [];
  let length = 0;
  let afterCr = false;
  const take = () => {
    const bytes = BOM.every((byte, index) => kept[index] === byte) && line === 1 ? kept.slice(3) : kept;
    const taken = { line, text: Buffer.from(bytes).toString('utf8'), isTooLong: length > LINE_LIMIT };
    kept = [];
    length = 0;
    line += 1;
    return taken;
  };
  if (to <= from) return;
  for await (const bytes of createReadStream(path, { start: from, end: to - 1 })) {
    for (const byte of /** @type {Buffer} */ (bytes)) {
      if (byte === CR || (byte === LF && !afterCr)) yield take();
      else if (byte !== LF) {
        length += 1;
        if (length <= LINE_LIMIT) kept.push(byte);
      }
      afterCr = byte === CR;
    }
  }
  if (length > 0) yield take();
}

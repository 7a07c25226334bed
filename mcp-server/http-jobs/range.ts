/** Responses with a representation's bytes, whole or as a range (RFC 9110, section 14). */
import { Readable } from 'node:stream';
import type { Context } from 'hono';
import { Problem } from './rendering/problems.js';
import { header } from './rendering/schemas.js';
import { matchesEtag } from './status.js';

export interface ByteRange {
  /** Offset of the first byte, from 0. */
  from: number;
  lengthBytes: number;
}

export interface Representation {
  sizeBytes: number;
  /** Strong entity tag: equal for equal bytes. */
  etag: string;
  contentType: string;
  stream(range: ByteRange): Promise<Readable>;
  headers?: Record<string, string>;
}

export const BYTES_HEADERS = {
  ETag: header('Strong entity tag.'),
  'Accept-Ranges': header('bytes'),
};
export const NOT_MODIFIED = {
  description: 'Not modified: If-None-Match has the current entity tag.',
  headers: BYTES_HEADERS,
};
export const PART_HEADERS = {
  ...BYTES_HEADERS,
  'Content-Range': header('The range, and the size in bytes.'),
};

/**
 * Answers 200, 206 for a single range, or 304 if If-None-Match matches. Several ranges, or another unit than bytes, get the whole.
 *
 * @throws Problem `range-not-satisfiable`
 */
export async function sendBytes(c: Context, representation: Representation): Promise<Response> {
  const { sizeBytes, etag, contentType } = representation;
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-cache',
    'X-Content-Type-Options': 'nosniff',
    ...representation.headers,
  };
  if (matchesEtag(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
  const ifRange = c.req.header('if-range');
  const range =
    ifRange === undefined || ifRange === etag ? rangeOf(c.req.header('range'), sizeBytes) : undefined;
  const { from, lengthBytes } = range ?? { from: 0, lengthBytes: sizeBytes };
  const isHead = c.req.method === 'HEAD';
  const stream = isHead || lengthBytes === 0 ? undefined : await representation.stream({ from, lengthBytes });
  const status = range ? 206 : 200;
  const all = {
    ...headers,
    'Content-Type': contentType,
    'Content-Length': String(lengthBytes),
    ...(range ? { 'Content-Range': `bytes ${from}-${from + lengthBytes - 1}/${sizeBytes}` } : {}),
  };
  return stream ? c.body(Readable.toWeb(stream) as ReadableStream, status, all) : c.body(null, status, all);
}

/** The requested range. Undefined for none, and for ranges that a server must ignore. */
function rangeOf(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const set = /^\s*bytes\s*=(.*)$/i.exec(header ?? '')?.[1];
  if (set === undefined || set.includes(',')) return undefined;
  const [, first = '', last = ''] = /^\s*(\d{0,15})-(\d{0,15})\s*$/.exec(set) ?? [];
  const fail = (expected: string): never => {
    throw new Problem('range-not-satisfiable', `Range: expected ${expected}; got ${JSON.stringify(header)}`, {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  };
  if (first === '' && last === '') return fail('bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH');
  if (first === '') {
    const lengthBytes = Math.min(Number(last), sizeBytes);
    return lengthBytes > 0 ? { from: sizeBytes - lengthBytes, lengthBytes } : fail('a length above 0');
  }
  const from = Number(first);
  const to = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < from) return fail('a last byte that is not before the first');
  if (from >= sizeBytes) return fail(`a first byte below ${sizeBytes}`);
  return { from, lengthBytes: to - from + 1 };
}

const CHUNK_BYTES = 64 * 1024;

/** Streams in chunks, so a slow reader holds no copy of the range. */
export function streamOf(bytes: Buffer, { from, lengthBytes }: ByteRange): Readable {
  return Readable.from(
    (function* () {
      for (let at = from; at < from + lengthBytes; at += CHUNK_BYTES)
        yield bytes.subarray(at, Math.min(at + CHUNK_BYTES, from + lengthBytes));
    })(),
    { objectMode: false },
  );
}

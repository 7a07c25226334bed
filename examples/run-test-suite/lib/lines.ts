/** Lines of a stream whose writer can't be trusted to end them. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/**
 * Yields the lines of a stream. A longer line than the limit is cut there, and the rest of it is counted instead of kept, so megabytes
 * without a line end take no memory.
 *
 * @param limit in UTF-16 code units
 * @param onChunk called for each read
 */
export async function* linesOf(
  stream: Readable,
  limit: number,
  onChunk: () => void = () => undefined,
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let omitted = 0;
  const take = (text: string) => {
    const kept = text.slice(0, limit - line.length);
    line += kept;
    omitted += text.length - kept.length;
  };
  const flush = () => {
    const whole = omitted > 0 ? `${line} [${omitted} more characters]` : line.replace(/\r$/, '');
    [line, omitted] = ['', 0];
    return whole;
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    onChunk();
    const parts = decoder.write(chunk).split('\n');
    for (const [index, part] of parts.entries()) {
      take(part);
      if (index < parts.length - 1) yield flush();
    }
  }
  take(decoder.end());
  if (line !== '' || omitted > 0) yield flush();
}

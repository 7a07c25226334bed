/** Reads the files of an audit log, line by line. */
import { createReadStream } from 'node:fs';

const LINE_BREAK = 0x0a;

/** Text between two line breaks; `isTorn` for text at the end of the file that no line break follows. */
export interface FileLine {
  text: string;
  /** From 1. */
  number: number;
  isTorn: boolean;
}

export async function* linesOf(path: string): AsyncGenerator<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, from)) {
      const piece = chunk.subarray(from, end);
      const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
      rest = Buffer.alloc(0);
      from = end + 1;
      yield { text: bytes.toString('utf8'), number: ++number, isTorn: false };
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  if (rest.length > 0) yield { text: rest.toString('utf8'), number: number + 1, isTorn: true };
}

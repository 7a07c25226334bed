/** Lines of standard input, however they are cut. */
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { readLines } from '../../mcp-server/json/stdio-lines.js';

/** Calls of the handlers for an input that comes in these chunks: methods, sizes of batches, `ID code` of refusals. */
async function handled(chunks: Buffer[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  await readLines(Readable.from(chunks, { objectMode: false }), {
    onMessage: (message) => void seen.push((message as { method: string }).method),
    onBatch: (batch) => void seen.push(batch.length),
    onRefusal: (id, { code }) => void seen.push(`${id} ${code}`),
  });
  return seen;
}

const INPUT = Buffer.from(
  [
    '{"jsonrpc":"2.0","id":1,"method":"a\u00e9"}\r',
    '',
    ' [{"jsonrpc":"2.0","id":2,"method":"b"}, 7]',
    '{"jsonrpc":"2.0","method":"c"',
    '   \t\r',
    '{"id":3}',
    '\uFEFF{"jsonrpc":"2.0","id":4,"method":"d"}',
    '{"jsonrpc":"2.0","id":5,"method":"e"}',
  ].join('\n'),
);
const HANDLED = ['a\u00e9', 2, 'null -32700', '3 -32600', 'null -32700', 'e'];

test.each([1, 2, 3, 7, 100, INPUT.length])('chunks of %i bytes', async (bytes) => {
  const chunks = Array.from({ length: Math.ceil(INPUT.length / bytes) }, (_, at) =>
    INPUT.subarray(at * bytes, (at + 1) * bytes),
  );
  expect(await handled(chunks)).toEqual(HANDLED);
});

test.each(['', '\n'])(
  'a line over 10 MiB is refused, also as the last one, and the next one is read: %j',
  async (end) => {
    const long = Buffer.alloc(1 << 20, 'x');
    const parts = [...Array.from({ length: 11 }, () => long), Buffer.from(end)];
    expect(await handled(parts)).toEqual(['null -32600']);
    const next = Buffer.from('\n{"jsonrpc":"2.0","id":1,"method":"a"}');
    expect(await handled([...parts, next])).toEqual(['null -32600', 'a']);
  },
);

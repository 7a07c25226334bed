/** Numbers that a double can't hold, in the text of JSON. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resultIn } from '../../engine/read/closed.js';
import { type JsonRefusal, asRpcError, parseJson } from '../../mcp-server/json/index.js';
import { inexactNumberIn, parseKeepingDigits } from '../../operations/json/json-text.js';

function refusal(json: string | Uint8Array): JsonRefusal {
  try {
    parseJson(json);
  } catch (error) {
    return error as JsonRefusal;
  }
  throw new Error('it was taken');
}

describe('a number', () => {
  test.each([
    ...['0', '-0', '9007199254740991', '-9007199254740991', '1e308', '-1.7976931348623157e308', '5e-324'],
    ...['0.1', '0.1000000000000000055511151231257827', '9007199254740993.5', '6.02214076e23', '0e999', '0.0'],
  ])('%s is taken', (number) => {
    expect(parseJson(`[${number}]`)).toEqual([JSON.parse(number)]);
  });

  test.each([
    ...['9007199254740992', '-9007199254740992', '9007199254740993', '12345678901234567890'],
    ...['1e400', '-1e400', '1E+400', '1e-400', `0.${'0'.repeat(400)}1`, '9'.repeat(400)],
  ])('%s is refused, with the advice to send a string', (number) => {
    const { kind, message } = refusal(`[${number}]`);
    expect(kind).toBe('number');
    expect(message).toContain(
      `expected a number that keeps its digits (integers up to 9007199254740991); got ${number.slice(0, 40)}`,
    );
    expect(message).toMatch(/; send it as a string$/);
  });

  test('in a string is text', () => {
    const value = { '9007199254740993': '1e400 "9007199254740993"' };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });
});

test.each<[string, string[]]>([
  ['9007199254740993', []],
  ['{"a":[1,{"b":"x","c":[[],9007199254740993]}]}', ['a', '1', 'c', '1']],
  ['{"a":{"b":1},"c":1e400}', ['c']],
  ['{"a\\"\\u0041":{"":[0,0,1e400]}}', ['a"A', '', '2']],
  ['[{"a":1},{"a":1,"b":-1e400},9007199254740993]', ['1', 'b']],
])('%s: the path is that of the first such number', (json, path) => {
  expect(refusal(json).path).toEqual(path);
});

test.each<[string, string | number | null, number, string]>([
  ['{"id":7,"method":"a","params":{"b":1e400}}', 7, -32602, 'params.b: '],
  ['{"method":"a","params":{"id":9007199254740993},"id":"x"}', 'x', -32602, 'params.id: '],
  ['{"id":9007199254740993,"method":"a"}', null, -32600, 'id: '],
  ['[{"id":1,"method":"a"},{"id":9007199254740993,"method":"a"}]', null, -32600, '1.id: '],
  ['{"id":7,"result":{"content":{"n":9007199254740993}}}', null, -32602, 'result.content.n: '],
])('%s is answered with the ID of its request, if that can be held', (json, id, code, where) => {
  const refused = refusal(json);
  expect(refused.id).toBe(id);
  expect(asRpcError(refused)).toEqual({ code, message: expect.stringContaining(where) });
});

test('an ID that a double cannot hold is no ID of any other refusal either', () => {
  expect(refusal(`{"id":9007199254740993,"x":${'['.repeat(100)}${']'.repeat(100)}}`)).toMatchObject({
    kind: 'too_large',
    id: null,
  });
});

test('what JSON.stringify writes is taken, unless it has an integer beyond 2^53-1', () => {
  const isBig = (value: unknown): boolean =>
    typeof value === 'number'
      ? Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
      : typeof value === 'object' && value !== null && Object.values(value).some(isBig);
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const json = JSON.stringify(value);
      expect(inexactNumberIn(json) !== undefined).toBe(isBig(value));
      expect(JSON.stringify(parseKeepingDigits(json))).toBe(json);
    }),
  );
});

test.each([new Uint8Array([0x22, 0xe9, 0x22]), new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])])(
  'bytes that are no UTF-8 are refused: %s',
  (bytes) => {
    expect(refusal(bytes)).toMatchObject({ kind: 'encoding', message: 'expected UTF-8; got other bytes' });
  },
);

test('results of workers in other languages keep all digits', () => {
  const data = Buffer.from(
    '{"id":9007199254740993,"list":[-12345678901234567890,1.5,1e400],"sum":1000000000000000000}',
  );
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data };
  expect(resultIn(payload).result).toEqual({
    id: '9007199254740993',
    list: ['-12345678901234567890', 1.5, '1e400'],
    sum: 1e18,
  });
});

/** Digests and signatures, without Temporal. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { canonicalJson } from '../../operations/canonical-json.js';
import { digestOfJson, parseSignature, startDigest } from '../../operations/signatures.js';
import type { StartMemo } from '../../operations/wire.js';
import { Signer } from '../../platform/signer.js';

const MEMO = { version: 1, tool: 't', principal: 'anonymous' } as StartMemo;
const signer = new Signer(Buffer.alloc(32, 1));

test.each([
  [{ b: 1, a: { d: [1, { f: 2, e: 1 }], c: null } }],
  [{ a: undefined, b: () => 1, c: [undefined, NaN], d: new Date(0), e: -0, f: '\ud800 ü\u2028' }],
  [JSON.parse('{"__proto__": 1, "2": 1, "10": 1, "constructor": {"b": 1, "a": 2}}')],
  [['x', true, 1.5e300]],
  [undefined],
])('canonical JSON of %j survives being sent, has sorted keys, and is valid JSON', (value) => {
  const sent = JSON.parse(JSON.stringify(value) ?? 'null');
  expect(canonicalJson(value)).toBe(canonicalJson(sent));
  expect(JSON.parse(canonicalJson(value))).toEqual(sent);
});

test('equal values in another order have the same digest, which is SHA-256', () => {
  expect(canonicalJson({ b: 1, a: [2] })).toBe('{"a":[2],"b":1}');
  const hex = createHash('sha256').update('{"a":"ü"}').digest('hex');
  expect(digestOfJson({ a: 'ü' })).toBe(hex.slice(0, 40));
});

test('a signature holds for its workflow ID, type, memo and input alone', () => {
  const { signature, ...memo } = signer.signedMemo('start', 'id', 'type', MEMO, [{ a: 1 }]);
  expect(memo).toEqual(MEMO);
  expect(signature!.length).toBeLessThan(100);
  const { digest } = parseSignature(signature)!;
  expect(startDigest('type', { ...MEMO, signature: 'x' }, [{ a: 1 }])).toBe(digest);
  for (const other of [
    startDigest('other', MEMO, [{ a: 1 }]),
    startDigest('type', { ...MEMO, tool: 'u' }, [{ a: 1 }]),
    startDigest('type', MEMO, [{ a: 2 }]),
    startDigest('type', MEMO, [{ a: 1 }, null]),
  ])
    expect(other).not.toBe(digest);
  const kinds = ['start', 'schedule'] as const;
  expect(signer.problemOf(kinds, 'id', signature)).toBeUndefined();
  expect(signer.problemOf(kinds, 'id2', signature)).toBe('forged');
  expect(signer.problemOf(['answer'], 'id', signature)).toBe('forged');
  expect(new Signer(Buffer.alloc(32, 2)).problemOf(kinds, 'id', signature)).toBe('other-key');
  for (const bad of [undefined, null, 1, '', 'start.x', signature!.replace(/.$/, '_'), `${signature}x`])
    expect(signer.problemOf(kinds, 'id', bad)).toBe('forged');
});

test('a signature for a schedule holds for its ID with a time', () => {
  const { signature } = signer.signedMemo('schedule', 'nightly', 'type', MEMO, []);
  const problem = (id: string) => signer.problemOf(['start', 'schedule'], id, signature);
  expect(problem('nightly-2026-11-23T03:00:00Z')).toBeUndefined();
  for (const id of ['nightly', 'nightly-x', 'other-2026-11-23T03:00:00Z', 'nightly-2-2026-11-23T03:00:00Z'])
    expect(problem(id)).toBe('forged');
});

test("an answer's ID is the same for equal answers of one answerer, and for nobody else's", () => {
  const id = (by: object, answer: object, own?: string, key = 'input-1', workflowId = 'id', from = signer) =>
    from.answerId(workflowId, key, [by, answer, own]);
  const [bob, carol] = [{ principal: 'acme/bob' }, { principal: 'acme/carol' }];
  const yes = { action: 'accept', content: { a: 1, b: [true] } };
  const first = id(bob, yes);
  expect(first).toMatch(/^[\w-]{32}$/);
  expect(id(bob, { content: { b: [true], a: 1 }, action: 'accept' })).toBe(first);
  const others = [
    id(carol, yes),
    id({ operator: true }, yes),
    id(bob, { action: 'decline' }),
    id(bob, yes, 'own'),
    id(bob, yes, undefined, 'input-2'),
    id(bob, yes, undefined, 'input-1', 'other'),
    id(bob, yes, undefined, 'input-1', 'id', new Signer(Buffer.alloc(32, 2))),
  ];
  expect(new Set([first, ...others]).size).toBe(1 + others.length);
});

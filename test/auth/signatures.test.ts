/** Digests and signatures, without Temporal. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import type { ScheduleTimes } from '../../operations/tool/schedule-times.js';
import { digestOfJson, parseSignature, startDigest } from '../../operations/wire/signatures.js';
import type { StartMemo } from '../../operations/wire/index.js';
import { Signer } from '../../platform/temporal/signer.js';

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
  const { signature, ...memo } = signer.signedMemo('id', {
    workflowType: 'type',
    memo: MEMO,
    args: [{ a: 1 }],
  });
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

describe('a signature for a schedule', () => {
  const TIMES: ScheduleTimes = {
    cron: ['0 3 * * *'],
    intervals: [],
    overlap: 'Skip',
    from: '2026-11-20T12:00:00.000Z',
  };
  const start = { workflowType: 'type', memo: MEMO, args: [] };
  const { signature } = signer.signedMemo('nightly', start, TIMES);
  const problem = (id: string, text: unknown = signature) =>
    signer.problemOf(['start', 'schedule'], id, text);

  test('holds for its ID with one of its times', () => {
    expect(problem('nightly-2026-11-23T03:00:00Z')).toBeUndefined();
    for (const id of [
      ...['nightly', 'nightly-x', 'other-2026-11-23T03:00:00Z', 'nightly-2-2026-11-23T03:00:00Z'],
      // No times, or not as Temporal writes them.
      ...['nightly-2026-13-23T03:00:00Z', 'nightly-2026-02-30T03:00:00Z', 'nightly-2026-11-23T03:00:60Z'],
      ...[
        'nightly-2026-11-23T03:00:00.000Z',
        'nightly-2026-11-23T03:00:00+00:00',
        'nightly-2026-11-23T03:00Z',
      ],
      'nightly-2026-11-23T03:00:00Z-2026-11-23T03:00:00Z',
    ])
      expect([id, problem(id)]).toEqual([id, 'forged']);
  });

  test('holds for no other time, nor for one before it was made', () => {
    for (const time of [
      '2026-11-23T03:00:01Z',
      '2026-11-23T04:00:00Z',
      '2026-11-20T03:00:00Z',
      '1999-01-01T03:00:00Z',
    ])
      expect([time, problem(`nightly-${time}`)]).toEqual([time, 'off-schedule']);
    expect(problem('nightly-2026-11-21T03:00:00Z')).toBeUndefined();
  });

  test('is forged with other times, without any, or as the signature of one start', () => {
    const [kind, keyId, digest, mac, times] = signature!.split('.');
    const others = Buffer.from(JSON.stringify({ ...TIMES, cron: ['* * * * *'] })).toString('base64url');
    const id = 'nightly-2026-11-23T03:00:00Z';
    expect(problem(id, [kind, keyId, digest, mac, times].join('.'))).toBeUndefined();
    for (const parts of [
      [kind, keyId, digest, mac, others],
      [kind, keyId, digest, mac],
      ['start', keyId, digest, mac],
      ['start', keyId, digest, mac, times],
    ])
      expect(problem(id, parts.join('.'))).toBe('forged');
    const { signature: single } = signer.signedMemo(id, start);
    expect(problem(id, `${single}.${times}`)).toBe('forged');
  });
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

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { masking, type Masking } from '../../worker/steps/output/mask.js';

/** Encoders by their names; each may keep or escape a character. */
const ENCODERS: Record<string, (text: string) => string> = {
  none: (text) => text,
  uri: encodeURIComponent,
  lowercaseUri: (text) => encodeURIComponent(text).replace(/%../g, (escape) => escape.toLowerCase()),
  form: (text) => new URLSearchParams([['', text]]).toString().slice(1),
  wholeUri: (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  json: (text) => JSON.stringify(text).slice(1, -1),
  wholeJson: (text) =>
    [...Array(text.length).keys()]
      .map((at) => `\\u${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`)
      .join(''),
  html: (text) => text.replace(/[&<>"']/g, (found) => `&#${found === "'" ? 'x27' : found.charCodeAt(0)};`),
  hex: (text) => Buffer.from(text).toString('hex'),
  base64: (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  base64url: (text) => Buffer.from(text).toString('base64url'),
};

// Without the characters of masks.
const secret = fc
  .string({ unit: 'grapheme', minLength: 4, maxLength: 40 })
  .map((value) => value.replaceAll('*', 'x'));
const secrets = fc.array(secret, { minLength: 1, maxLength: 4 });

/** The bytes that a masker shows of these, given in chunks of these sizes, in turn. */
function inChunks(hidden: Masking, bytes: Buffer, sizes: number[]): Buffer {
  const masker = hidden.stream();
  const shown: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    shown.push(masker.write(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...shown, masker.end()]);
}

describe('masking', () => {
  test('hides a value, its lines, and its forms in JSON and URLs', () => {
    const hidden = masking(['pass"word\nline two\nab', 'sl/ash & blank']);
    expect(hidden.text('x pass"word\nline two\nab y')).toBe('x *** y');
    expect(hidden.text('only line two here, not ab')).toBe('only *** here, not ab');
    expect(hidden.text(JSON.stringify({ a: 'pass"word\nline two\nab' }))).toBe('{"a":"***"}');
    expect(hidden.text(`?q=${encodeURIComponent('sl/ash & blank')}&r=sl%2Fash+%26+blank`)).toBe(
      '?q=***&r=***',
    );
    expect(masking([]).text('nothing to hide')).toBe('nothing to hide');
  });

  test('leaves no part of secrets that overlap', () => {
    expect(masking(['abcd', 'cdef']).text('-abcdef-')).toBe('-***-');
    expect(masking(['abab']).text('-ababab-')).toBe('-***-');
    expect(masking(['abcdef', 'abcd']).text('abcdef abcde')).toBe('*** ***e');
  });

  test('holds back only what may begin a secret', () => {
    const masker = masking(['secret']).stream();
    expect(masker.write(Buffer.from('a prompt: ')).toString()).toBe('a prompt: ');
    expect(masker.write(Buffer.from('xsec')).toString()).toBe('x');
    expect(masker.write(Buffer.from('ond')).toString()).toBe('second');
    expect(masker.write(Buffer.from('secre')).toString()).toBe('');
    expect(masker.end().toString()).toBe('secre');
  });

  test('hides any secret in any form, in chunks of any sizes', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...Object.keys(ENCODERS)),
        fc.string({ maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (values, encoder, before, sizes) => {
          const encode = ENCODERS[encoder]!;
          const text = values.map((value) => encode(before + value)).join('\n');
          const hidden = masking(values);
          const whole = hidden.text(text);
          expect(inChunks(hidden, Buffer.from(text), sizes).toString()).toBe(whole);
          expect(whole.match(/\*\*\*/g)?.length ?? 0).toBeGreaterThan(0);
          for (const value of values) expect(whole).not.toContain(encode(value));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('leaves bytes that are no text as they are', () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7) % 256));
    expect(inChunks(masking(['secret']), bytes, [1, 5, 2, 7]).equals(bytes)).toBe(true);
  });
});

import { describe, expect, test } from '@jest/globals';
import { masking, type Masking } from '../../activities/pipeline/mask.js';

/** A generator that gives the same numbers for the same seed: a failure can be seen again. */
function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

function inChunks(hidden: Masking, bytes: Buffer, next: (below: number) => number): Buffer {
  const masker = hidden.stream();
  const shown: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + next(7);
    shown.push(masker.write(bytes.subarray(at, at + length)));
    at += length;
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

  test('gives the same for any chunks, and shows no secret', () => {
    const alphabet = ['a', 'b', 'c', '\n', 'é', '"'];
    for (let seed = 0; seed < 400; seed += 1) {
      const next = numbers(seed);
      const word = (length: number) => Array.from({ length }, () => alphabet[next(alphabet.length)]).join('');
      const secrets = Array.from({ length: 1 + next(3) }, () => word(4 + next(5)));
      const text = Array.from({ length: 30 }, () =>
        next(3) ? word(1 + next(4)) : secrets[next(secrets.length)],
      ).join('');
      const hidden = masking(secrets);
      const whole = hidden.text(text);
      const chunked = inChunks(hidden, Buffer.from(text), next).toString();
      expect({ seed, text: chunked }).toEqual({ seed, text: whole });
      for (const secret of secrets)
        expect({ seed, shows: whole.includes(secret) }).toEqual({ seed, shows: false });
    }
  });

  test('leaves bytes that are no text as they are', () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7) % 256));
    expect(inChunks(masking(['secret']), bytes, numbers(1)).equals(bytes)).toBe(true);
  });
});

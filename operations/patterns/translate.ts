/**
 * Translates patterns of JSON Schema, which are ECMAScript regular expressions with the flag `u` (JSON Schema 2020-12 core,
 * section 6.4), to RE2's syntax. Sets are written out in code points, since an escape may mean another set in RE2: `\s`
 * has 25 characters in ECMAScript and 5 in RE2, `.` excludes 4 characters and 1.
 */
import { codePoint, propertyRanges } from './properties.js';
import { UnsupportedPattern } from './unsupported.js';

/** RE2's limit for `{n,m}`. */
const MAX_REPETITIONS = 1000;

const DIGITS = '0-9';
const WORDS = '0-9A-Za-z_';
const SPACES =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const LINE_ENDS = '\\x{a}\\x{d}\\x{2028}\\x{2029}';
const EVERYTHING = '\\x{0}-\\x{10ffff}';
/** The ranges of `\d`, `\D` and so on, within a class. */
const SETS: Record<string, string> = {
  d: DIGITS,
  D: '\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}',
  w: WORDS,
  W: '\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}',
  s: SPACES,
  S: '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}',
};
const CONTROLS: Record<string, number> = { t: 0x9, n: 0xa, v: 0xb, f: 0xc, r: 0xd, '0': 0 };
const LOOK_AROUND: Record<string, string> = {
  '(?=': 'a look-ahead',
  '(?!': 'a negative look-ahead',
  '(?<=': 'a look-behind',
  '(?<!': 'a negative look-behind',
};

/**
 * @param ranges gives the code points of a Unicode property in RE2's syntax
 * @returns the same pattern in RE2's syntax, without capturing groups
 * @throws UnsupportedPattern that names the construct and its position
 */
export function toRe2(pattern: string, ranges = propertyRanges): string {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    throw new UnsupportedPattern(`expected a regular expression; ${(error as Error).message}`);
  }
  return new Translation(pattern, ranges).run();
}

/** Recursive-descent translation of a valid pattern: each construct is recognized by its first characters. */
class Translation {
  #at = 0;

  constructor(
    private readonly pattern: string,
    private readonly ranges: typeof propertyRanges,
  ) {}

  run(): string {
    let translated = '';
    while (this.#at < this.pattern.length) translated += this.#term();
    return translated;
  }

  #term(): string {
    const start = this.#at;
    const character = this.#next();
    switch (character) {
      case '\\':
        return this.#escape(start);
      case '[':
        return this.#class();
      case '(':
        return this.#group(start);
      case '{':
        return this.#repetition(start);
      case '.':
        return `[^${LINE_ENDS}]`;
      case '^':
        return '\\A';
      case '$':
        return '\\z';
      case ')':
      case '|':
      case '*':
      case '+':
      case '?':
        return character;
      default:
        return codePoint(character.codePointAt(0)!);
    }
  }

  #escape(start: number): string {
    const { pattern } = this;
    const letter = pattern[this.#at]!;
    if (letter === 'b' || letter === 'B') {
      this.#at += 1;
      return `\\${letter}`;
    }
    if (/[1-9k]/.test(letter)) {
      const [reference] = /^(?:k<[^>]*>|\d+)/.exec(pattern.slice(this.#at))!;
      throw unsupported('a back-reference', `\\${reference}`, start);
    }
    const ranges = this.#set();
    // RE2 has no empty class; a property without characters matches nothing.
    return ranges === undefined ? codePoint(this.#escapedCharacter()) : `[${ranges || `^${EVERYTHING}`}]`;
  }

  /** The ranges of a set such as `\d` or `\p{L}` whose backslash has been read; undefined for a single character. */
  #set(): string | undefined {
    const letter = this.pattern[this.#at]!;
    const set = SETS[letter];
    if (set !== undefined) this.#at += 1;
    if (letter !== 'p' && letter !== 'P') return set;
    const end = this.pattern.indexOf('}', this.#at);
    const property = this.pattern.slice(this.#at + 2, end);
    this.#at = end + 1;
    return this.ranges(property, letter === 'P');
  }

  /** The code point of an escape whose backslash has been read. */
  #escapedCharacter(): number {
    const letter = this.#next();
    if (letter in CONTROLS) return CONTROLS[letter]!;
    if (letter === 'c') return this.#next().charCodeAt(0) % 32;
    if (letter === 'x') return this.#hex(2);
    if (letter !== 'u') return letter.codePointAt(0)!;
    if (this.pattern[this.#at] === '{') {
      const end = this.pattern.indexOf('}', this.#at);
      const code = Number.parseInt(this.pattern.slice(this.#at + 1, end), 16);
      this.#at = end + 1;
      return code;
    }
    const high = this.#hex(4);
    const [, low] = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.pattern.slice(this.#at, this.#at + 6)) ?? [];
    if (high < 0xd800 || high > 0xdbff || low === undefined) return high;
    this.#at += 6;
    return String.fromCharCode(high, Number.parseInt(low, 16)).codePointAt(0)!;
  }

  #class(): string {
    const isNegated = this.pattern[this.#at] === '^';
    if (isNegated) this.#at += 1;
    let ranges = '';
    while (this.pattern[this.#at] !== ']') {
      const first = this.#classAtom();
      // In a valid pattern a hyphen between two atoms forms a range, and neither atom is a set.
      if (typeof first === 'number' && this.pattern[this.#at] === '-' && this.pattern[this.#at + 1] !== ']') {
        this.#at += 1;
        ranges += `${codePoint(first)}-${codePoint(this.#classAtom() as number)}`;
      } else ranges += typeof first === 'number' ? codePoint(first) : first;
    }
    this.#at += 1;
    if (ranges === '') return isNegated ? `[${EVERYTHING}]` : `[^${EVERYTHING}]`;
    return `[${isNegated ? '^' : ''}${ranges}]`;
  }

  /** A character, or the ranges of a set. */
  #classAtom(): number | string {
    const character = this.#next();
    if (character !== '\\') return character.codePointAt(0)!;
    if (this.pattern[this.#at] === 'b') {
      this.#at += 1;
      return 0x8;
    }
    return this.#set() ?? this.#escapedCharacter();
  }

  #group(start: number): string {
    const rest = this.pattern.slice(start, start + 4);
    const [opening] = /^\((?:\?(?:[:=!]|<[=!]?|.))?/u.exec(rest)!;
    const lookAround = LOOK_AROUND[opening];
    if (lookAround !== undefined) throw unsupported(lookAround, opening, start);
    if (opening === '(?<') this.#at = this.pattern.indexOf('>', start) + 1;
    else if (opening === '(' || opening === '(?:') this.#at = start + opening.length;
    else throw unsupported('a modifier', opening, start);
    return '(?:';
  }

  #repetition(start: number): string {
    const end = this.pattern.indexOf('}', start) + 1;
    const braces = this.pattern.slice(start, end);
    this.#at = end;
    if (
      braces
        .slice(1, -1)
        .split(',')
        .some((count) => Number(count) > MAX_REPETITIONS)
    )
      throw unsupported(`a repetition of more than ${MAX_REPETITIONS} times`, braces, start);
    return braces;
  }

  #next(): string {
    const character = String.fromCodePoint(this.pattern.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }

  #hex(digits: number): number {
    const code = Number.parseInt(this.pattern.slice(this.#at, this.#at + digits), 16);
    this.#at += digits;
    return code;
  }
}

function unsupported(construct: string, text: string, at: number): UnsupportedPattern {
  return new UnsupportedPattern(
    `${construct} (${JSON.stringify(text).slice(1, -1)}, character ${at + 1}) is not supported; expected syntax of RE2, which is matched in linear time`,
  );
}

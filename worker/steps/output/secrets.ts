/**
 * Values of a pipeline's secrets: read from the worker's environment, and passed only to steps' environments. Also how a log may spell
 * them: a form is a sequence of units, each an automaton over bytes that reads every spelling of one character. So encoders may escape as few
 * or as many characters as they like.
 */
import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { SECRET_VARIABLE_PREFIX, secretValueOf } from '../../../platform/settings/index.js';
import { SECRET_UNUSABLE } from '../failures.js';

/** @throws ApplicationFailure that says which variable of the worker to set */
export function secretsOf(
  names: readonly string[],
  host: string,
  environment?: NodeJS.ProcessEnv,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = secretValueOf(name, environment);
    const variable = SECRET_VARIABLE_PREFIX + name;
    if (!value) throw unusable(`secret ${name} is missing: set ${variable} for the workers (host ${host})`);
    if (value.length < SHORTEST_SECRET)
      throw unusable(
        `secret ${name} has fewer than ${SHORTEST_SECRET} characters, and can't be masked: set a longer ${variable}`,
      );
    values[name] = value;
  }
  return values;
}

/** Digest of a run's secrets, which shows another worker whether they are unchanged. Keyed, because some secrets could be guessed. */
export function secretsDigest(key: Uint8Array, stepId: string, secrets: Record<string, string>): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([stepId, Object.entries(secrets).sort()]))
    .digest('base64url');
}

function unusable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, SECRET_UNUSABLE);
}

/** Minimum length of a secret, in characters: a shorter value can't be masked, because it matches everywhere. */
const SHORTEST_SECRET = 4;
/** Minimum length of a secret's line to be masked by itself, in characters: shorter ones would mask half a log. */
const SHORTEST_LINE = 6;

/** Target of an edge that ends a unit. */
export const END = -1;

/** One element of a spelling: any of these bytes. */
type Step = readonly number[];

/** The spellings of one character: from node 0, each byte leads to further nodes or to {@link END}. */
export class Unit {
  readonly nodes = [new Map<number, number[]>()];

  add(spelling: readonly Step[], from = 0, to: number = END): void {
    let at = from;
    spelling.forEach((bytes, index) => {
      const target = index === spelling.length - 1 ? to : this.nodes.push(new Map()) - 1;
      for (const byte of bytes) {
        const targets = this.nodes[at]!.get(byte);
        if (targets) targets.push(target);
        else this.nodes[at]!.set(byte, [target]);
      }
      at = target;
    });
  }

  node(): number {
    return this.nodes.push(new Map()) - 1;
  }
}

export function formsOf(secrets: readonly string[]): Unit[][] {
  const values = new Set(secrets.filter(Boolean).flatMap(valuesOf));
  const units = new Map<string, Unit>();
  const shared: SharedUnits = (name, make) => {
    const unit = units.get(name) ?? make();
    units.set(name, unit);
    return unit;
  };
  return [...values].flatMap((value) => {
    const bytes = Buffer.from(value);
    return [
      charactersOf(bytes.toString()).map((character) =>
        shared(`character ${character}`, () => spellingsOf(character)),
      ),
      ...[0, 1, 2].map((offset) => base64(bytes, offset, shared)),
      hexadecimal(bytes, shared),
    ];
  });
}

type SharedUnits = (name: string, make: () => Unit) => Unit;

/** The whole value, the value without trailing line breaks, which shells drop, and its lines. */
function valuesOf(secret: string): string[] {
  const trimmed = secret.replace(/[\r\n]+$/, '');
  const lines = trimmed.split(/\r\n|\r|\n/).filter((line) => line.length >= SHORTEST_LINE);
  return [secret, ...(trimmed.length >= SHORTEST_SECRET ? [trimmed] : []), ...lines];
}

/** Code points; a CRLF is one. */
function charactersOf(text: string): string[] {
  return text.match(/\r\n|./gsu) ?? [];
}

const LINE_BREAKS = ['\n', '\r\n', '\\n', '\\r\\n'];

/** One-letter escapes of JSON, C and bash. */
const LETTER_ESCAPES: Record<string, string[]> = {
  '\u0007': ['\\a'],
  '\b': ['\\b'],
  '\t': ['\\t'],
  '\n': ['\\n'],
  '\v': ['\\v'],
  '\f': ['\\f'],
  '\r': ['\\r'],
  '\u001b': ['\\e', '\\E'],
};

/** Entities of HTML and XML, and spellings of quotes in shells, YAML, SQL and CSV. */
const SPECIAL: Record<string, string[]> = {
  ' ': ['+'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;', '""'],
  "'": ['&apos;', "'\\''", `'"'"'`, "''"],
};

function spellingsOf(character: string): Unit {
  const unit = new Unit();
  addSpellings(unit, character, 0, END);
  if (character === '\n') {
    const between = unit.node();
    addSpellings(unit, '\r', 0, between);
    addSpellings(unit, '\n', between, END);
  }
  if (character === '\r\n') addSpellings(unit, '\n', 0, END);
  return unit;
}

function addSpellings(unit: Unit, character: string, from: number, to: number): void {
  if (character === '\r\n') {
    const between = unit.node();
    addSpellings(unit, '\r', from, between);
    return addSpellings(unit, '\n', between, to);
  }
  const bytes = [...Buffer.from(character)];
  let at = from;
  bytes.forEach((byte, index) => {
    const next = index === bytes.length - 1 ? to : unit.node();
    for (const spelling of byteSpellings(byte)) unit.add(spelling, at, next);
    at = next;
  });
  // Python's escape for code points up to U+00FF.
  const code = character.codePointAt(0)!;
  if (code > 0x7f && code <= 0xff) unit.add([...literal('\\x'), ...hexSteps(code, 2)], from, to);
  const utf16 = [...Array(character.length).keys()].map((index) => character.charCodeAt(index));
  unit.add(
    utf16.flatMap((each) => [...literal('\\u'), ...hexSteps(each, 4)]),
    from,
    to,
  );
  for (const text of [...(LETTER_ESCAPES[character] ?? []), ...(SPECIAL[character] ?? [])])
    unit.add(literal(text), from, to);
  if (/[^A-Za-z0-9]/.test(character)) addReferences(unit, code, from, to);
  if (/[!-/:-@[-`{-~ ]/.test(character)) unit.add(literal(`\\${character}`), from, to);
}

/** The byte itself, in URLs, and in strings of C, bash and Python. */
function byteSpellings(byte: number): Step[][] {
  return [
    [[byte]],
    [...literal('%'), ...hexSteps(byte, 2)],
    [...literal('\\x'), ...hexSteps(byte, 2)],
    literal(`\\${byte.toString(8).padStart(3, '0')}`),
  ];
}

/** Numeric character references of HTML and XML, also padded like PHP's and .NET's. */
function addReferences(unit: Unit, code: number, from: number, to: number): void {
  const decimal = String(code);
  for (const digits of new Set([decimal, decimal.padStart(3, '0')]))
    unit.add(literal(`&#${digits};`), from, to);
  const { length } = code.toString(16);
  for (const digits of new Set([length, Math.max(length, 4)]))
    unit.add([...literal('&#'), [0x78, 0x58], ...hexSteps(code, digits), ...literal(';')], from, to);
}

function literal(text: string): Step[] {
  return [...Buffer.from(text)].map((byte) => [byte]);
}

function hexSteps(value: number, digits: number): Step[] {
  return [...value.toString(16).padStart(digits, '0')].map((digit) => [
    ...new Set([digit.charCodeAt(0), digit.toUpperCase().charCodeAt(0)]),
  ]);
}

/** Pairs of digits, together or apart, as in `xxd -p`, `od -An -tx1` and fingerprints. */
function hexadecimal(bytes: Buffer, shared: SharedUnits): Unit[] {
  return [...bytes].map((byte, index) =>
    shared(`hexadecimal ${byte} ${index > 0}`, () => {
      const unit = new Unit();
      const digits = hexSteps(byte, 2);
      unit.add(digits);
      if (index > 0)
        for (const between of [' ', ':', '\n ', ...LINE_BREAKS]) unit.add([...literal(between), ...digits]);
      return unit;
    }),
  );
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Other spellings of the last two symbols: base64url (RFC 4648, section 5), in JSON, in a URL. */
const BASE64_SPECIAL: Record<string, string[]> = {
  '+': ['-', '%2B', '%2b', '\\u002b', '\\u002B'],
  '/': ['_', '\\/', '%2F', '%2f', '\\u002f', '\\u002F'],
};
/** Minimum number of a secret's bits in the first symbol: with fewer, it would match half of all text. */
const LEAST_BITS = 4;

/** The symbols that depend on the bytes, for bytes within a longer text. @param offset of the first byte in its group of three */
function base64(bytes: Buffer, offset: number, shared: SharedUnits): Unit[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const symbols = ('?'.repeat(offset * 8) + bits).match(/.{1,6}/g)!.map((six) => six.padEnd(6, '?'));
  const first = symbols.findIndex((six) => six.replaceAll('?', '').length >= LEAST_BITS);
  return symbols
    .slice(first)
    .map((six, index) => shared(`base64 ${six} ${index > 0}`, () => base64Symbol(six, index > 0)));
}

/** @param six bits, `?` for other bytes' bits. @param mayBreak whether a line may end before it, since `base64` wraps its output */
function base64Symbol(six: string, mayBreak: boolean): Unit {
  const pattern = new RegExp(`^${six.replaceAll('?', '.')}$`);
  const possible = [...BASE64].filter((_symbol, value) => pattern.test(value.toString(2).padStart(6, '0')));
  const unit = new Unit();
  const starts = [0];
  if (mayBreak) {
    const afterBreak = unit.node();
    for (const between of LINE_BREAKS) unit.add(literal(between), 0, afterBreak);
    starts.push(afterBreak);
  }
  for (const from of starts) {
    unit.add([possible.map((symbol) => symbol.charCodeAt(0))], from);
    for (const symbol of possible)
      for (const other of BASE64_SPECIAL[symbol] ?? []) unit.add(literal(other), from);
  }
  return unit;
}

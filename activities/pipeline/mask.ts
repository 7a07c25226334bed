/**
 * Masks the values of secrets in logs, outputs and names of files. Works on bytes, because a log may be binary, and across
 * chunks: bytes that may start a secret are held back until the next chunk.
 */

const MASK = Buffer.from('***');

/** Minimum length of a secret's line that is masked by itself, in characters: shorter ones would mask half a log. */
const SHORTEST_LINE = 4;

interface Pattern {
  bytes: Buffer;
  /** How far to move before the pattern can occur again: less than its length when it overlaps with itself. */
  stride: number;
}

/** Masks the values of a step's secrets. */
export interface Masking {
  /**
   * A masker for one stream of bytes.
   *
   * @param covered where another masker's stream continues: {@link HeldBytes.covered}. Default: 0
   */
  stream(covered?: number): StreamMasker;
  /** Masks them in a whole text. */
  text(text: string): string;
}

/** Bytes that a masker holds back: they may start a secret. */
export interface HeldBytes {
  count: number;
  /** How many of them belong to a secret whose mask has been returned already. */
  covered: number;
}

export interface StreamMasker {
  readonly held: HeldBytes;
  /** Adds a chunk. @returns the bytes that are safe to show */
  write(chunk: Buffer): Buffer;
  /** Returns the bytes that were held back. */
  end(): Buffer;
}

/**
 * @param secrets values; their lines, and their forms in JSON and in URLs, are masked as well
 */
export function masking(secrets: readonly string[]): Masking {
  const patterns = [...new Set(secrets.flatMap(formsOf))]
    .map((form) => Buffer.from(form))
    .map((bytes) => ({ bytes, stride: strideOf(bytes) }));
  return {
    stream: (covered = 0) => new PatternMasker(patterns, covered),
    text(text) {
      const masker = new PatternMasker(patterns, 0);
      return Buffer.concat([masker.write(Buffer.from(text)), masker.end()]).toString();
    },
  };
}

/** Masks everything, where the values of a step's secrets are unknown. */
export const EVERYTHING_MASKED: Masking = {
  stream: () => ({
    held: { count: 0, covered: 0 },
    write: () => Buffer.alloc(0),
    end: () => Buffer.alloc(0),
  }),
  text: () => String(MASK),
};

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r\n|\r|\n/).filter((line) => line.length >= SHORTEST_LINE);
  return [...(secret ? [secret] : []), ...lines].flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(Buffer.from(value).toString()),
    new URLSearchParams([['', value]]).toString().slice(1),
  ]);
}

/** The pattern's smallest period. */
function strideOf(bytes: Buffer): number {
  for (let stride = 1; stride < bytes.length; stride += 1)
    if (bytes.subarray(stride).equals(bytes.subarray(0, bytes.length - stride))) return stride;
  return bytes.length;
}

class PatternMasker implements StreamMasker {
  #held: Buffer = Buffer.alloc(0);

  /** @param heldCovered see {@link HeldBytes.covered} */
  constructor(
    private readonly patterns: readonly Pattern[],
    private heldCovered: number,
  ) {}

  get held(): HeldBytes {
    return { count: this.#held.length, covered: this.heldCovered };
  }

  write(chunk: Buffer): Buffer {
    const bytes = this.#held.length ? Buffer.concat([this.#held, chunk]) : chunk;
    return this.#show(bytes, bytes.length - this.#openEnd(bytes));
  }

  end(): Buffer {
    return this.#show(this.#held, this.#held.length);
  }

  /** Masks the bytes before `cut`, and holds the rest. */
  #show(bytes: Buffer, cut: number): Buffer {
    const shown: Buffer[] = [];
    let shownTo = this.heldCovered;
    for (const { from, to } of this.#occurrences(bytes)) {
      if (from >= cut) break;
      // Occurrences may overlap: both are masked whole.
      if (from >= shownTo) shown.push(bytes.subarray(shownTo, from), MASK);
      shownTo = Math.max(shownTo, to);
    }
    if (shownTo < cut) shown.push(bytes.subarray(shownTo, cut));
    this.#held = Buffer.from(bytes.subarray(cut));
    this.heldCovered = Math.max(0, shownTo - cut);
    return Buffer.concat(shown);
  }

  #occurrences(bytes: Buffer): { from: number; to: number }[] {
    const found: { from: number; to: number }[] = [];
    for (const { bytes: pattern, stride } of this.patterns)
      for (let from = bytes.indexOf(pattern); from >= 0; from = bytes.indexOf(pattern, from + stride))
        found.push({ from, to: from + pattern.length });
    return found.sort((one, other) => one.from - other.from);
  }

  /** Number of bytes at the end that may start a secret. */
  #openEnd(bytes: Buffer): number {
    let longest = 0;
    for (const { bytes: pattern } of this.patterns) {
      for (let length = Math.min(pattern.length - 1, bytes.length); length > longest; length -= 1) {
        if (bytes[bytes.length - length] !== pattern[0]) continue;
        if (bytes.subarray(bytes.length - length).equals(pattern.subarray(0, length))) longest = length;
      }
    }
    return longest;
  }
}

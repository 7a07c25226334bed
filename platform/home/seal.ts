/** Sealed values: state that clients carry, encrypted and authenticated with the key that all servers of a home share. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Texts longer than this aren't opened: sealed values are far shorter. */
const MAX_CHARACTERS = 8_192;

export interface Seal<T> {
  /** Returns base64url, safe in headers and URLs. */
  seal(value: T): string;
  /**
   * Returns undefined for a text that this seal didn't make, or whose `endsAt` has passed.
   *
   * @param nowMs time compared with `endsAt`, epoch milliseconds; 0 ignores `endsAt`. Default: now.
   */
  open(text: string, nowMs?: number): T | undefined;
}

/** A seal for one purpose, e.g. `session`. Values don't open after their `endsAt` (epoch milliseconds), if they have one. */
export function sealOf<T extends object>(secret: Buffer, purpose: string): Seal<T> {
  const key = derivedKey(secret, purpose, 32);
  return {
    seal(value) {
      const json = JSON.stringify(value);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key(), nonce);
      const bytes = Buffer.concat([cipher.update(json, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, bytes, cipher.getAuthTag()]).toString('base64url');
    },
    open(text, nowMs = Date.now()) {
      const sealed = sealedBytes(text);
      if (!sealed || sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key(), sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        const bytes = Buffer.concat([
          decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)),
          decipher.final(),
        ]);
        const value = JSON.parse(bytes.toString('utf8')) as T;
        const { endsAt } = value as { endsAt?: number };
        return endsAt !== undefined && endsAt < nowMs ? undefined : value;
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * A seal for short names: 16 bytes longer than what it seals, and equal bytes give equal texts. It is the SIV construction (RFC 5297) with
 * HMAC: the tag is the nonce too.
 */
export class PackedSeal {
  readonly #key: () => Buffer;

  constructor(secret: Buffer, purpose: string) {
    this.#key = derivedKey(secret, purpose, 64);
  }

  /** @param owner needed to open it, and not part of the text */
  seal(bytes: Buffer, owner: string): string {
    const tag = this.#tag(bytes, owner);
    return Buffer.concat([tag, this.#crypt(bytes, tag)]).toString('base64url');
  }

  /** Returns undefined for a text that this seal didn't make for that owner. */
  open(text: string, owner: string): Buffer | undefined {
    const sealed = sealedBytes(text);
    if (!sealed || sealed.length <= TAG_BYTES) return undefined;
    const tag = sealed.subarray(0, TAG_BYTES);
    const bytes = this.#crypt(sealed.subarray(TAG_BYTES), tag);
    return timingSafeEqual(tag, this.#tag(bytes, owner)) ? bytes : undefined;
  }

  #tag(bytes: Buffer, owner: string): Buffer {
    const hmac = createHmac('sha256', this.#key().subarray(32)).update(JSON.stringify(owner)).update(bytes);
    return hmac.digest().subarray(0, TAG_BYTES);
  }

  /** Encrypts or decrypts: counter mode is its own inverse. */
  #crypt(bytes: Buffer, tag: Buffer): Buffer {
    return createCipheriv('aes-256-ctr', this.#key().subarray(0, 32), tag).update(bytes);
  }
}

/** Derives the key on first use: most requests seal and open nothing. */
function derivedKey(secret: Buffer, purpose: string, bytes: number): () => Buffer {
  let derived: Buffer | undefined;
  return () => (derived ??= Buffer.from(hkdfSync('sha256', secret, '', `longhaul ${purpose}`, bytes)));
}

/** Undefined for a text that no seal makes: Buffer ignores characters that aren't base64url. */
function sealedBytes(text: string): Buffer | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const sealed = Buffer.from(text, 'base64url');
  return sealed.toString('base64url') === text ? sealed : undefined;
}

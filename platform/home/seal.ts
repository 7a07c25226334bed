/** Sealed values: state that clients carry, encrypted and authenticated with the key that all servers of a home share. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

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

/**
 * A seal for one purpose, e.g. `session`. Values don't open after their `endsAt` (epoch milliseconds), if they have one.
 *
 * @param options.isStable whether equal values give equal texts, which reveals that they are equal. Default: false
 */
export function sealOf<T extends object>(
  secret: Buffer,
  purpose: string,
  { isStable = false } = {},
): Seal<T> {
  // Derived on first use: most requests seal and open nothing.
  let derived: Buffer | undefined;
  const key = () => (derived ??= Buffer.from(hkdfSync('sha256', secret, '', `longhaul ${purpose}`, 32)));
  return {
    seal(value) {
      const json = JSON.stringify(value);
      // One nonce per value: a nonce never serves two.
      const nonce = isStable
        ? createHmac('sha256', key()).update(json).digest().subarray(0, NONCE_BYTES)
        : randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key(), nonce);
      const bytes = Buffer.concat([cipher.update(json, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, bytes, cipher.getAuthTag()]).toString('base64url');
    },
    open(text, nowMs = Date.now()) {
      if (text.length > MAX_CHARACTERS) return undefined;
      const sealed = Buffer.from(text, 'base64url');
      // Buffer ignores characters that aren't base64url.
      if (sealed.length <= NONCE_BYTES + TAG_BYTES || sealed.toString('base64url') !== text) return undefined;
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

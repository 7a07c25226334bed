/** Reads public keys from files. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Reads the public key in a PEM file: a key (SPKI) or a certificate (X.509).
 *
 * @throws Error with the path, when the file can't be read, has no public key, or has a private one
 */
export function readPublicKey(path: string): KeyObject {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path}: expected a file with a public key; ${(error as Error).message}`, {
      cause: error,
    });
  }
  // Node.js would derive the public key, and leave the private one where it doesn't belong.
  if (pem.includes('PRIVATE KEY-----'))
    throw new Error(`${path}: expected a public key in PEM format; got a private key`);
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new Error(`${path}: expected a public key or a certificate in PEM format; got something else`, {
      cause: error,
    });
  }
}

/** Reads public keys from files. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Reads a key (SPKI) or certificate (X.509) in PEM. @throws Error with the path, without a public key or with a private one */
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

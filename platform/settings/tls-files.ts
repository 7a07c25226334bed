/** The server's certificate, key and client authorities, as PEM files. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { settingFlag } from './flag.js';
import { SettingsError, type Settings } from './index.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

type TlsSettings = Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsClientCa'>;

export interface TlsFiles {
  cert: string;
  key: string;
  /** Authorities of client certificates. */
  ca?: string;
  /** The server's own certificate, the first in its file. */
  certificate: X509Certificate;
}

/** Reads the files and checks that they fit together. @throws SettingsError that names the file, what was expected and what came */
export function readTlsFiles({ tlsCert, tlsKey, tlsClientCa }: TlsSettings): TlsFiles {
  const [cert, certificate] = certificatesIn('tlsCert', tlsCert!);
  const key = read('tlsKey', tlsKey!);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError(
      `${settingFlag('tlsKey')} ${tlsKey}: expected the key of ${tlsCert}, as PEM without a passphrase; got ${(error as Error).message}`,
      { cause: error },
    );
  }
  if (tlsClientCa === undefined) return { cert, key, certificate };
  const [ca] = certificatesIn('tlsClientCa', tlsClientCa);
  return { cert, key, ca, certificate };
}

function read(setting: keyof TlsSettings, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingsError(`${settingFlag(setting)} ${path}: expected a readable PEM file; got ${code}`, {
      cause: error,
    });
  }
}

/** The text of a file, and its first certificate. */
function certificatesIn(setting: keyof TlsSettings, path: string): [string, X509Certificate] {
  const text = read(setting, path);
  try {
    const [first] = (text.match(CERTIFICATE) ?? []).map((one) => new X509Certificate(one));
    if (first) return [text, first];
  } catch {
    // Throw the same message as for a file without certificates.
  }
  throw new SettingsError(
    `${settingFlag(setting)} ${path}: expected PEM with certificates alone; got something else`,
  );
}

/** Whether a certificate covers a host name or address. */
export function isCertificateFor(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/** Host names of a certificate, without wildcards. */
export function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/(?:^|, )DNS:([A-Za-z0-9.-]+)(?=,|$)/g)].map(([, found]) =>
    found!.toLowerCase(),
  );
}

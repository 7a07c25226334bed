/** A certificate authority in a folder, for TLS with client certificates on loopback. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAYS = ['-days', '2'];

export class CertificateAuthority {
  constructor(private readonly folder: string) {
    this.#openssl(
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...DAYS],
      ...['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca'],
    );
  }

  /** Path of a file: `ca.pem`, `NAME.pem`, `NAME.key`. */
  path(file: string): string {
    return join(this.folder, file);
  }

  /**
   * Makes `NAME.key` and `NAME.pem`.
   *
   * @param subject as OpenSSL writes it
   * @param alternativeNames as OpenSSL writes them
   */
  issue(name: string, subject = `/CN=${name}`, alternativeNames = 'IP:127.0.0.1,DNS:localhost'): void {
    writeFileSync(this.path('san.cnf'), `subjectAltName=${alternativeNames}\n`);
    this.#openssl(
      ...['req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`, '-out', `${name}.csr`],
      ...['-subj', subject],
    );
    this.#openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...[...DAYS, '-extfile', 'san.cnf', '-out', `${name}.pem`],
    );
  }

  /** TLS options of a server with the certificate `name`, which trusts clients with certificates of this authority. */
  serverTls(name: string): { ca: string; cert: string; key: string } {
    const read = (file: string) => readFileSync(this.path(file), 'utf8');
    return { ca: read('ca.pem'), cert: read(`${name}.pem`), key: read(`${name}.key`) };
  }

  /** Variables with which Temporal's clients present the certificate `name`. */
  clientVariables(name: string): Record<string, string> {
    return {
      TEMPORAL_TLS_CLIENT_CERT_PATH: this.path(`${name}.pem`),
      TEMPORAL_TLS_CLIENT_KEY_PATH: this.path(`${name}.key`),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: this.path('ca.pem'),
    };
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }
}

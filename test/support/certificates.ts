/** A certificate authority in a folder, for TLS with client certificates on loopback. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAYS = 2;
/** `openssl ca` alone takes the second at which a certificate expires. */
const CONFIGURATION = `
[ca]
default_ca = all
[all]
database = index.txt
serial = serial.txt
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = optional
organizationName = optional
`;

export class CertificateAuthority {
  constructor(private readonly folder: string) {
    writeFileSync(this.path('ca.cnf'), CONFIGURATION);
    writeFileSync(this.path('index.txt'), '');
    writeFileSync(this.path('index.txt.attr'), 'unique_subject = no\n');
    writeFileSync(this.path('serial.txt'), '01\n');
    this.#openssl(
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', String(DAYS)],
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
   * @param until when it expires. Default: in two days
   */
  issue(
    name: string,
    subject = `/CN=${name}`,
    alternativeNames = 'IP:127.0.0.1,DNS:localhost',
    until = new Date(Date.now() + DAYS * 86_400_000),
  ): void {
    writeFileSync(this.path('san.cnf'), `subjectAltName=${alternativeNames}\n`);
    this.#openssl(
      ...['req', '-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`, '-out', `${name}.csr`],
      ...['-subj', subject],
    );
    const enddate = until.toISOString().replace(/[-:T]|\.\d+/g, '');
    this.#openssl(
      ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key'],
      ...['-enddate', enddate, '-extfile', 'san.cnf', '-in', `${name}.csr`, '-out', `${name}.pem`],
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

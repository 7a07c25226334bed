/** TLS with client certificates, and API keys, that change while a server and a worker run. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy, type ProxyOptions } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

/** Longer than the interval at which settings are read again. */
const RENEWAL_LIMIT_MS = 90_000;

const folder = mkdtempSync(join(tmpdir(), 'longhaul-credentials-'));
const path = (name: string) => join(folder, name);
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });

/** Makes `NAME.key` and `NAME.pem`, signed by `ca`. */
function makeCertificate(name: string): void {
  writeFileSync(path('san.cnf'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${name}`,
  );
  openssl(
    ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
    ...['-days', '2', '-extfile', 'san.cnf', '-out', `${name}.pem`],
  );
}

/** The proxy's TLS, with the server's certificate. */
function tlsOptions(more: { requestCert?: boolean } = {}): ProxyOptions {
  const read = (name: string) => readFileSync(path(name), 'utf8');
  return { tls: { ca: read('ca.pem'), cert: read('server.pem'), key: read('server.key'), ...more } };
}

beforeAll(() => {
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=ca',
  );
  for (const name of ['server', 'first', 'second']) makeCertificate(name);
}, PROCESSES_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  'a new client certificate is used without a restart, by server and worker, while an operation runs',
  async () => {
    const proxy = await TemporalProxy.start(() => undefined, tlsOptions());
    const useCertificate = (name: string) => {
      copyFileSync(path(`${name}.pem`), path('client.pem'));
      copyFileSync(path(`${name}.key`), path('client.key'));
    };
    useCertificate('first');
    const stack = await TestStack.start({
      TEMPORAL_ADDRESS: proxy.address,
      TEMPORAL_TLS_CLIENT_CERT_PATH: path('client.pem'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: path('client.key'),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('ca.pem'),
    });
    try {
      const { client } = stack;
      expect([...proxy.subjects()]).toEqual(['first']);
      const taskId = await client.start('confirm_delete', { filename: 'plain.txt' });
      const task = await client.until(taskId, 'input_required');
      useCertificate('second');
      await eventually(
        'server and worker have replaced their connections',
        () => stack.parts.every((part) => part.output().includes('was replaced')),
        RENEWAL_LIMIT_MS,
      );
      // Only calls on the new connections come through from here on.
      proxy.refuse('first');
      await client.answer(taskId, Object.keys(task.inputRequests)[0]!, {
        action: 'accept',
        content: { confirm: true },
      });
      await client.until(taskId, 'completed');
      expect([...proxy.subjects()]).toContain('second');
    } finally {
      await stack.stop();
      await proxy.close();
    }
  },
  PROCESSES_MS + RENEWAL_LIMIT_MS,
);

test(
  'a new API key of a profile is used without a restart',
  async () => {
    let valid = 'key-1';
    const seen = new Set<string>();
    const proxy = await TemporalProxy.start(
      ({ headers }) => {
        const { authorization = 'none' } = headers;
        seen.add(authorization);
        return authorization === `Bearer ${valid}` ? undefined : { code: 16, message: 'expired key' };
      },
      tlsOptions({ requestCert: false }),
    );
    const writeProfile = (key: string) =>
      writeFileSync(
        path('temporal.toml'),
        `[profile.cluster]\naddress = "${proxy.address}"\napi_key = "${key}"\n[profile.cluster.tls]\nserver_ca_cert_path = "${path('ca.pem')}"\n`,
      );
    writeProfile('key-1');
    const stack = await TestStack.start({
      TEMPORAL_ADDRESS: '',
      TEMPORAL_PROFILE: 'cluster',
      TEMPORAL_CONFIG_FILE: path('temporal.toml'),
    });
    try {
      const { client } = stack;
      writeProfile('key-2');
      await eventually('the new key is used', () => seen.has('Bearer key-2'), RENEWAL_LIMIT_MS);
      await eventually(
        'by server and worker',
        () => stack.parts.every((part) => part.output().includes('API key for Temporal has changed')),
        RENEWAL_LIMIT_MS,
      );
      valid = 'key-2';
      const greet = async (name: string) => {
        const { result } = await client.request('tools/call', { name: 'greet', arguments: { name } });
        expect(result.structuredContent).toEqual({ greeting: `Hello, ${name}!` });
      };
      await greet('Ada');
      // A broken file changes nothing.
      writeFileSync(path('temporal.toml'), 'not = toml = at all');
      await eventually(
        'that is logged',
        () => stack.parts.every((part) => part.output().includes("can't be used")),
        RENEWAL_LIMIT_MS,
      );
      await greet('Bob');
    } finally {
      await stack.stop();
      await proxy.close();
    }
  },
  PROCESSES_MS + 3 * RENEWAL_LIMIT_MS,
);

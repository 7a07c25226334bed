/** TLS with client certificates, and API keys, that change while a server and a worker run. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { CertificateAuthority } from '../support/certificates.js';
import { forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy, type ProxyOptions } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

/** Longer than the interval at which settings are read again. */
const RENEWAL_LIMIT_MS = 150_000;

const folder = temporaryFolder('credentials');
const authority = new CertificateAuthority(folder);
const path = (name: string) => authority.path(name);

/** The proxy's TLS, with the server's certificate. */
function tlsOptions(more: { requestCert?: boolean } = {}): ProxyOptions {
  return { tls: { ...authority.serverTls('server'), ...more } };
}

for (const name of ['server', 'first', 'second']) authority.issue(name);

/** Server and worker, while an operation runs. */
async function useNewCertificate(): Promise<void> {
  const proxy = await forThisTest(TemporalProxy.start(() => undefined, tlsOptions()));
  const useCertificate = (name: string) => {
    copyFileSync(path(`${name}.pem`), path('client.pem'));
    copyFileSync(path(`${name}.key`), path('client.key'));
  };
  useCertificate('first');
  // Own stack: its credentials change.
  const stack = await forThisTest(
    TestStack.start({ TEMPORAL_ADDRESS: proxy.address, ...authority.clientVariables('client') }),
  );
  const { client } = stack;
  expect([...proxy.subjects()]).toEqual(['first']);
  const taskId = await client.start('confirm_delete', { filename: 'plain.txt' });
  await client.until(taskId, 'input_required');
  useCertificate('second');
  await eventually(
    'server and worker have replaced their connections',
    () => stack.parts.every((part) => part.output().includes('was replaced')),
    RENEWAL_LIMIT_MS,
  );
  // Only calls on the new connections come through from here on.
  proxy.refuse('first');
  await client.accept(taskId, { confirm: true });
  await client.until(taskId, 'completed');
  expect([...proxy.subjects()]).toContain('second');
}

async function useNewApiKey(): Promise<void> {
  let valid = 'key-1';
  const seen = new Set<string>();
  const proxy = await forThisTest(
    TemporalProxy.start(
      ({ headers }) => {
        const { authorization = 'none' } = headers;
        seen.add(authorization);
        return authorization === `Bearer ${valid}` ? undefined : { code: 16, message: 'expired key' };
      },
      tlsOptions({ requestCert: false }),
    ),
  );
  const writeProfile = (key: string) =>
    writeFileSync(
      path('temporal.toml'),
      `[profile.cluster]\naddress = "${proxy.address}"\napi_key = "${key}"\n[profile.cluster.tls]\nserver_ca_cert_path = "${path('ca.pem')}"\n`,
    );
  writeProfile('key-1');
  // Own stack: its credentials change.
  const stack = await forThisTest(
    TestStack.start({
      TEMPORAL_ADDRESS: '',
      TEMPORAL_PROFILE: 'cluster',
      TEMPORAL_CONFIG_FILE: path('temporal.toml'),
    }),
  );
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
    const { result } = await client.call('greet', { name });
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
}

// At once: each waits for the interval at which settings are read again.
test(
  'a new client certificate, and a new API key of a profile, are used without a restart',
  () => Promise.all([useNewCertificate(), useNewApiKey()]),
  PROCESSES_MS + 3 * RENEWAL_LIMIT_MS,
);

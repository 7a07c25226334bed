/**
 * Runs test files against Temporal's production server on PostgreSQL, behind TLS with client certificates, with the operator
 * service refused. Ends with Jest's exit code.
 *
 *     node --import jiti/register test/temporal-postgres/run.ts [arguments of Jest]
 *
 * Without a path under test/ among the arguments: the files of core-files.ts. One file after another, since some kill the server
 * that all share.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateAuthority } from '../support/certificates.js';
import { namedTemporalVariables } from '../support/run-temporal.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { CORE_FILES } from './core-files.js';
import { startPostgres } from './postgres.js';
import { preparePrograms, startTemporalServer } from './server.js';

const PERMISSION_DENIED = { code: 7, message: 'Request unauthorized.' };

const ends: (() => Promise<void> | void)[] = [];
async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

async function main(args: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-postgres-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  await preparePrograms();
  const postgres = await startPostgres(folder);
  ends.push(() => postgres.service.stop());
  const pidFile = join(folder, 'temporal.pid');
  const temporal = await startTemporalServer(folder, postgres, pidFile);
  ends.push(() => temporal.stop());
  const authority = new CertificateAuthority(folder);
  for (const name of ['server', 'longhaul']) authority.issue(name);
  const proxy = await TemporalProxy.start(
    ({ service }) => (service.includes('operatorservice') ? PERMISSION_DENIED : undefined),
    { target: temporal.address, tls: authority.serverTls('server') },
  );
  ends.push(() => proxy.close());
  const files = args.some((argument) => argument.startsWith('test/')) ? [] : CORE_FILES;
  const jest = spawn(
    process.execPath,
    ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--runInBand', ...args, ...files],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        TEMPORAL_ADDRESS: proxy.address,
        ...authority.clientVariables('longhaul'),
        ...namedTemporalVariables(temporal.address, pidFile),
      },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => jest.kill(signal));
  return new Promise((resolve) => jest.once('close', (code) => resolve(code ?? 1)));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await endAll();
}

/** The fast project of jest.config.js needs no Temporal, and can't reach one. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { globSync } from 'tinyglobby';

const CONFIG: string = '../../jest.config.js';
const { FAST } = (await import(CONFIG)) as { FAST: string[] };

test('every fast test file exists, and none of them starts processes of the stack', () => {
  for (const pattern of FAST) {
    const files = globSync(pattern, { absolute: true });
    expect([pattern, files.length > 0]).toEqual([pattern, true]);
    for (const file of files) {
      const imports = readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g);
      const used = [...imports]
        .map(([, path]) => path)
        .filter((path) => /test-stack|startEmbedded|@temporalio\/(client|worker|testing)/.test(path!));
      expect([file, used]).toEqual([file, []]);
    }
  }
});

test('nothing listens where the environment of fast tests names a Temporal', async () => {
  const [host, port] = process.env['TEMPORAL_ADDRESS']!.split(':');
  const outcome = await new Promise<string>((resolve) => {
    connect({ host: host!, port: Number(port) })
      .once('connect', () => resolve('connected'))
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
  });
  expect(outcome).toBe('ECONNREFUSED');
});

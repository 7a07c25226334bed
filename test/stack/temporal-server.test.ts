import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { loadSettings, type Settings } from '../../platform/settings/index.js';
import { hiddenAddress } from '../../platform/http/free-address.js';
import { readStackState } from '../../platform/temporal/address.js';
import { SEARCH_ATTRIBUTE_NAMES } from '../../platform/temporal/search-attributes.js';
import {
  cachedBinaryPath,
  TEMPORAL_CLI_VERSION,
  TEMPORAL_SERVER_VERSION,
} from '../../stack/temporal/binary.js';
import { startEmbeddedTemporal, type EmbeddedTemporal } from '../../stack/temporal/server.js';
import { copyDatabase } from '../../stack/temporal/database-snapshot.js';
import { databasePath } from '../../stack/temporal/version.js';
import { PROCESSES_MS } from '../support/limits.js';
import { freePort, isRunning } from './cli-process.js';

jest.setTimeout(PROCESSES_MS);

let home: string;
let settings: Settings;
let running: EmbeddedTemporal | undefined;
const start = async () => (running = await startEmbeddedTemporal(settings, () => undefined));

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-temporal-'));
  settings = { ...(await loadSettings()), home, temporalPort: await freePort() };
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  rmSync(home, { recursive: true, force: true });
});

async function namespaceOf({ address }: EmbeddedTemporal) {
  const connection = await Connection.connect({ address });
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    return {
      retention: Number(config?.workflowExecutionRetentionTtl?.seconds),
      names: Object.keys(customAttributes),
    };
  } finally {
    await connection.close();
  }
}

test('it comes with 72 h of retention and the search attributes, also on a database that it finds', async () => {
  for (let time = 1; time <= 2; time++) {
    const temporal = await start();
    expect(temporal.address).toBe(`127.0.0.1:${settings.temporalPort}`);
    const { retention, names } = await namespaceOf(temporal);
    expect(retention).toBe(72 * 3_600);
    expect(names).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTE_NAMES]));
    await temporal.stop();
    expect(isRunning(temporal.pid)).toBe(false);
    expect(readStackState(home)).toEqual({});
  }
});

test('without a chosen port it takes the next free ones', async () => {
  settings = { ...settings, temporalPort: undefined };
  const [first, other] = [await start(), mkdtempSync(join(tmpdir(), 'longhaul-temporal-'))];
  const second = await startEmbeddedTemporal({ ...settings, home: other }, () => undefined);
  await second.stop();
  rmSync(other, { recursive: true });
  expect(second.address).not.toBe(first.address);
  expect(second.uiUrl).not.toBe(first.uiUrl);
});

test('it has no UI if the setting is off', async () => {
  settings = { ...settings, temporalUi: 'off' };
  const { pid, uiUrl, ports } = await start();
  expect({ uiUrl, ports }).toEqual({ uiUrl: undefined, ports: { port: settings.temporalPort } });
  expect(readStackState(home).temporalUiUrl).toBeUndefined();
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('--headless');
});

test('an address that pages do not find is random, and missing where loopback is 127.0.0.1 alone', async () => {
  const [one, other] = [await hiddenAddress(), await hiddenAddress()];
  expect(one!.host).toMatch(/^127\./);
  expect(other!.host).not.toBe(one!.host);
  // An address for documentation (RFC 5737), which no machine has.
  expect(await hiddenAddress('192.0.2.1')).toBeUndefined();
});

/** The home's record of the Temporal that made its database. */
const record = () => join(home, 'temporal.version');

/** A Temporal that says it has another version, and is the real one. */
function putOtherVersion(path: string, real: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const version = 'temporal version 1.6.2 (Server 1.31.2, UI 2.48.1)';
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo "${version}" && exit\nexec ${real} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
}

test('a database is used with the version that made it, and keeps its record', async () => {
  const real = cachedBinaryPath(settings.binFolder);
  await (await start()).stop();
  const made = JSON.parse(readFileSync(record(), 'utf8')) as { server: string };
  expect(made).toMatchObject({ server: TEMPORAL_SERVER_VERSION, cli: TEMPORAL_CLI_VERSION });
  const older = JSON.stringify({ ...made, server: '1.31.2', cli: '1.6.2' });
  writeFileSync(record(), older);
  putOtherVersion(cachedBinaryPath(join(home, 'bin'), '1.6.2'), real);
  const said: string[] = [];
  running = await startEmbeddedTemporal(settings, (line) => said.push(line));
  expect(readFileSync(`/proc/${running.pid}/cmdline`, 'utf8')).toContain(databasePath(home));
  expect((await namespaceOf(running)).retention).toBe(72 * 3_600);
  expect(said).toEqual([expect.stringMatching(/made by Temporal server 1\.31\.2.*To move to that, /)]);
  expect(readFileSync(record(), 'utf8')).toBe(older);
});

test.each([true, false])('a database without a record gets it by its tables: fair %s', async (fairness) => {
  await (await start()).stop();
  if (!fairness) {
    // As an earlier release's: it has rows in the other tables alone.
    const copy = join(home, 'copy.db');
    copyDatabase(databasePath(home), copy);
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const database = new sqlite.Database(copy);
    database.run('DELETE FROM task_queues_v2');
    database.close();
    rmSync(`${databasePath(home)}-wal`, { force: true });
    renameSync(copy, databasePath(home));
  }
  writeFileSync(record(), '{"serv');
  const said: string[] = [];
  running = await startEmbeddedTemporal(settings, (line) => said.push(line));
  expect(said).toEqual([expect.stringMatching(/no usable temporal\.version; .* server 1\.29\.1/)]);
  expect(JSON.parse(readFileSync(record(), 'utf8'))).toMatchObject({
    server: TEMPORAL_SERVER_VERSION,
    fairness,
  });
});

test('a database without a record that another server made is refused, and nothing is touched', async () => {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(databasePath(home));
  database.run('CREATE TABLE current_chasm_executions (run_id INT)');
  database.close();
  await expect(start()).rejects.toThrow(/no record of the Temporal that made it.*temporal\.version/);
  expect(existsSync(record())).toBe(false);
});

test('task queues are fair in a new database, and stay as they were in an older one', async () => {
  const isFair = ({ pid }: { pid: number }) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('matching.enableFairness=true');
  const first = await start();
  expect(isFair(first)).toBe(true);
  await first.stop();
  const { fairness, ...older } = JSON.parse(readFileSync(record(), 'utf8')) as { fairness: boolean };
  expect(fairness).toBe(true);
  writeFileSync(record(), JSON.stringify(older));
  expect(isFair(await start())).toBe(false);
});

test('a Temporal that was left on this database is ended by the next start', async () => {
  const left = await start();
  const again = await start();
  expect(isRunning(left.pid)).toBe(false);
  expect(again.address).toBe(left.address);
});

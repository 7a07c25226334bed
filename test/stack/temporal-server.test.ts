import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { loadSettings, type Settings } from '../../platform/settings/index.js';
import { hiddenAddress } from '../../platform/http/free-address.js';
import { readStackState } from '../../platform/temporal/address.js';
import { SEARCH_ATTRIBUTE_NAMES } from '../../platform/temporal/search-attributes.js';
import { TEMPORAL_SERVER_VERSION } from '../../stack/temporal/binary.js';
import { startEmbeddedTemporal, type EmbeddedTemporal } from '../../stack/temporal/server.js';
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

test('a database that another server version made is refused, saying what to do', async () => {
  await (await start()).stop();
  const file = join(home, 'temporal.version');
  const made = JSON.parse(readFileSync(file, 'utf8')) as { server: string };
  expect(made.server).toBe(TEMPORAL_SERVER_VERSION);
  writeFileSync(file, JSON.stringify({ ...made, server: '1.27.9' }));
  await expect(start()).rejects.toThrow(/made by Temporal server 1\.27\.9.*move temporal\.db\*/);
  expect(readFileSync(file, 'utf8')).toContain('1.27.9');
});

test('task queues are fair in a new database, and stay as they were in an older one', async () => {
  const isFair = ({ pid }: { pid: number }) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('matching.enableFairness=true');
  const first = await start();
  expect(isFair(first)).toBe(true);
  await first.stop();
  const file = join(home, 'temporal.version');
  const { fairness, ...older } = JSON.parse(readFileSync(file, 'utf8')) as { fairness: boolean };
  expect(fairness).toBe(true);
  writeFileSync(file, JSON.stringify(older));
  expect(isFair(await start())).toBe(false);
});

test('a Temporal that was left on this database is ended by the next start', async () => {
  const left = await start();
  const again = await start();
  expect(isRunning(left.pid)).toBe(false);
  expect(again.address).toBe(left.address);
});

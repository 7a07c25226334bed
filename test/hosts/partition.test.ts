/** Hosts that lose their connection to Temporal and get it back, once another host has their jobs. */
import { beforeAll, expect, jest, test } from '@jest/globals';
import { runningSteps } from '../../worker/steps/running.js';
import { Links } from '../chaos/faults/links.js';
import { eventually } from '../stack/cli-process.js';
import { afterAllTests, forAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS, OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { Hosts, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

jest.setTimeout(INSTALL_MS);

/** Two hosts, and a job that runs on the near one when its fault begins. */
interface Scene {
  hosts: Hosts;
  near: TestHost;
  token: string;
  endFault: () => unknown;
}

const LEDGER = 'job';

let cutOff: Scene;
let hung: Scene;

async function scene(address?: string): Promise<Scene> {
  const hosts = await forAllTests(Hosts.start(PIPELINES));
  const near = await hosts.add('near', address);
  const token = await hosts.startOn('repeatable', LEDGER);
  await eventually('it runs', () => hosts.lines(LEDGER).includes('start two near'));
  await hosts.add('far');
  const hang = () => near.worker.process.kill('SIGCONT');
  return { hosts, near, token, endFault: address ? () => links.heal('temporal') : hang };
}

const links = await forAllTests(Links.start());
const temporal = Number(process.env['TEMPORAL_ADDRESS']!.split(':').at(-1));
beforeAll(async () => {
  const link = `127.0.0.1:${await links.open('temporal', temporal)}`;
  [cutOff, hung] = await Promise.all([scene(link), scene()]);
  await links.fault('temporal', 'drop');
  hung.near.worker.process.kill('SIGSTOP');
});
afterAllTests(() => hung?.near.worker.process.kill('SIGCONT'));

test.each([
  ['is cut off', () => cutOff],
  ['hangs', () => hung],
])(
  'a host that %s keeps its step, which is ended once the host is back, since another one has the job by then',
  async (_fault, of) => {
    const { hosts, near, token, endFault } = of();
    await eventually('it runs elsewhere', () => hosts.lines(LEDGER).includes('start two far'), OUTAGE_MS);
    const beatsOf = (by: string) => hosts.lines(`${LEDGER}.beats`).filter((line) => line.endsWith(` ${by}`));
    await eventually('it is at work there', () => beatsOf('far').length > 0);
    const before = beatsOf('near').length;
    await eventually('it is still at work here', () => beatsOf('near').length > before);

    const endedAt = new Date();
    await endFault();
    await eventually('its worker polls again', () => hosts.isSeenSince(near, endedAt), PROCESSES_MS);
    await eventually('its step is ended', async () => (await runningSteps(near.home)).length === 0);
    const beats = beatsOf('near').length;
    hosts.letGo(LEDGER);
    await hosts.parts.client.until(token, 'completed');
    expect(hosts.lines(LEDGER)).toEqual([
      ...['one near', 'start two near'],
      ...['one far', 'start two far', 'end two far'],
    ]);
    expect(beatsOf('near')).toHaveLength(beats);
  },
);

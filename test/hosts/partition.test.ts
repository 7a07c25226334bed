/** Hosts that lose their connection to Temporal and get it back, once another host has their jobs. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { runningSteps } from '../../worker/steps/running.js';
import { Links } from '../chaos/faults/links.js';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS, OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { Hosts, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

jest.setTimeout(INSTALL_MS);

let hosts: Hosts;
let links: Links;
const near: Record<string, TestHost> = {};
/** The job of each host. */
const jobs: Record<string, { token: string; ledger: string }> = {};

/** Ends of the faults, by the name of the host. */
const END: Record<string, () => unknown> = {
  cut: () => links.heal('temporal'),
  hung: () => near['hung']!.worker.process.kill('SIGCONT'),
};

beforeAll(async () => {
  [hosts, links] = await Promise.all([Hosts.start(PIPELINES), Links.start()]);
  const temporal = Number(process.env['TEMPORAL_ADDRESS']!.split(':').at(-1));
  near['cut'] = await hosts.add('cut', `127.0.0.1:${await links.open('temporal', temporal)}`);
  const hung = await hosts.add('hung');
  near['hung'] = hung;
  // Either host may take a job.
  for (let at = 1; !jobs['cut'] || !jobs['hung']; at += 1) {
    const ledger = `job-${at}`;
    const token = await hosts.startOn('repeatable', ledger);
    const line = await eventually('it runs', () =>
      hosts.lines(ledger).find((one) => one.startsWith('start two ')),
    );
    jobs[line.split(' ').at(-1)!] ??= { token, ledger };
  }
  await hosts.add('far');
  await links.fault('temporal', 'drop');
  hung.worker.process.kill('SIGSTOP');
}, INSTALL_MS);
afterAll(async () => {
  near['hung']?.worker.process.kill('SIGCONT');
  await hosts?.stop();
  await links?.stop();
});

test.each([
  ['is cut off', 'cut'],
  ['hangs', 'hung'],
])(
  'a host that %s keeps its step, which is ended once the host is back, since another one has the job by then',
  async (_fault, name) => {
    const { token, ledger } = jobs[name]!;
    const host = near[name]!;
    await eventually('it runs elsewhere', () => hosts.lines(ledger).includes('start two far'), OUTAGE_MS);
    const beatsOf = (by: string) => hosts.lines(`${ledger}.beats`).filter((line) => line.endsWith(` ${by}`));
    await eventually('it is at work there', () => beatsOf('far').length > 0);
    const before = beatsOf(name).length;
    await eventually('it is still at work here', () => beatsOf(name).length > before);

    const endedAt = new Date();
    await END[name]!();
    await eventually('its worker polls again', () => hosts.isSeenSince(host, endedAt), PROCESSES_MS);
    await eventually('its step is ended', async () => (await runningSteps(host.home)).length === 0);
    const beats = beatsOf(name).length;
    hosts.letGo(ledger);
    await hosts.parts.client.until(token, 'completed');
    expect(hosts.lines(ledger)).toEqual([
      ...[`one ${name}`, `start two ${name}`],
      ...['one far', 'start two far', 'end two far'],
    ]);
    expect(beatsOf(name)).toHaveLength(beats);
  },
);

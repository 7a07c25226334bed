import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runningSteps } from '../../activities/pipeline/running.js';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS, PROCESSES_MS } from '../support/limits.js';
import { Hosts, Line, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

let hosts: Hosts;
let line: Line;

beforeAll(async () => {
  hosts = await Hosts.start(PIPELINES);
  line = await Line.open(process.env['TEMPORAL_ADDRESS']!);
}, PROCESSES_MS);
afterAll(async () => {
  line?.close();
  await hosts?.stop();
});

/** Ways in which a host loses its connection to Temporal and gets it back. */
const FAULTS: Record<string, { begin(host: TestHost): void; end(host: TestHost): void }> = {
  'is cut off': { begin: () => line.cut(), end: () => line.restore() },
  hangs: {
    begin: ({ worker }) => void worker.process.kill('SIGSTOP'),
    end: ({ worker }) => void worker.process.kill('SIGCONT'),
  },
};

test.each(Object.keys(FAULTS))(
  'a host that %s keeps its step, which is ended once the host is back, since another one has the job by then',
  async (fault) => {
    const ledger = fault.replaceAll(' ', '-');
    const near = await hosts.add(`near-${ledger}`, line.address);
    const token = await hosts.startOn('repeatable', ledger);
    await eventually('it runs', () => hosts.lines(ledger).includes(`start two near-${ledger}`));
    const far = await hosts.add(`far-${ledger}`);
    FAULTS[fault]!.begin(near);
    await eventually(
      'it runs elsewhere',
      () => hosts.lines(ledger).includes(`start two far-${ledger}`),
      420_000,
    );
    const beats = () =>
      hosts.lines(`${ledger}.beats`).map((text) => {
        const [at, host] = text.split(' ') as [string, string];
        return { at: Number(at), host };
      });
    const beatsOf = (name: string) => beats().filter(({ host }) => host === `${name}-${ledger}`);
    await eventually('it is at work there', () => beatsOf('far').length > 0);
    const before = beatsOf('near').length;
    await eventually('it is still at work here', () => beatsOf('near').length > before);

    const endedAt = new Date();
    FAULTS[fault]!.end(near);
    await eventually('its worker polls again', () => hosts.isSeenSince(near, endedAt), PROCESSES_MS);
    await eventually('its step is ended', async () => (await runningSteps(near.home)).length === 0);
    const ofNear = beatsOf('near');
    hosts.letGo(ledger);
    await hosts.parts.client.until(token, 'completed');
    expect(hosts.lines(ledger)).toEqual([
      `one near-${ledger}`,
      `start two near-${ledger}`,
      `one far-${ledger}`,
      `start two far-${ledger}`,
      `end two far-${ledger}`,
    ]);
    expect(beatsOf('near')).toHaveLength(ofNear.length);
    await near.worker.end();
    await far.worker.end();
  },
  INSTALL_MS,
);

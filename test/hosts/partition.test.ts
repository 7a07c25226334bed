import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { Hosts, Line } from './hosts-support.js';
import { PIPELINES } from './pipelines.js';

let hosts: Hosts;
let line: Line;

beforeAll(async () => {
  hosts = await Hosts.start(PIPELINES);
  line = await Line.open(process.env['TEMPORAL_ADDRESS']!);
}, 120_000);
afterAll(async () => {
  line?.close();
  await hosts?.stop();
}, 60_000);

test('a host that is cut off ends its movable step before another one begins it, and is no trouble once it is back', async () => {
  const near = await hosts.add('near', line.address);
  const token = await hosts.startOn('repeatable', 'cut');
  await eventually('it runs', () => hosts.lines('cut').includes('start two near'));
  await hosts.add('far');
  line.cut();
  await eventually('it runs elsewhere', () => hosts.lines('cut').includes('start two far'), 420_000);
  const beats = () =>
    hosts.lines('cut.beats').map((text) => {
      const [at, host] = text.split(' ') as [string, string];
      return { at: Number(at), host };
    });
  await eventually('it is at work there', () => beats().some(({ host }) => host === 'far'));
  const ofNear = beats().filter(({ host }) => host === 'near');
  const ofFar = beats().filter(({ host }) => host === 'far');
  expect(ofNear.at(-1)!.at).toBeLessThan(ofFar[0]!.at);
  // It worked on for a while: an outage that is short ends nothing.
  expect(ofNear.at(-1)!.at - ofNear[0]!.at).toBeGreaterThan(60_000);

  const mendedAt = new Date();
  line.mend();
  await eventually('its worker polls again', () => hosts.isSeenSince(near, mendedAt), 120_000);
  hosts.letGo('cut');
  await hosts.parts.client.until(token, 'completed');
  expect(hosts.lines('cut')).toEqual([
    'one near',
    'start two near',
    'one far',
    'start two far',
    'end two far',
  ]);
  expect(beats().filter(({ host }) => host === 'near')).toHaveLength(ofNear.length);
}, 600_000);

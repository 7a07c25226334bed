import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { Hosts } from './support.js';
import { PIPELINES } from './pipelines.js';

let hosts: Hosts;

beforeAll(async () => {
  hosts = await Hosts.start(PIPELINES);
});
afterAll(() => hosts?.stop());

test('a host that comes back while a question about it is open withdraws the question', async () => {
  const first = await hosts.add('first');
  const { client } = hosts.parts;
  const token = await hosts.startOn('careful', 'careful');
  await eventually('it runs', () => hosts.lines('careful').includes('start two first'));
  await hosts.add('second');
  await hosts.kill(first);
  const asked = (start: string) => (task: any) =>
    Object.values<any>(task.inputRequests ?? {}).some(({ params }) => params.message.startsWith(start));
  await client.until(token, asked(`The host ${first.id}, which has the workspace of work`), OUTAGE_MS);

  await hosts.again(first, 'first');
  // Its journal has the start of the step, but not its end.
  const { inputRequests } = await client.until(token, asked('Is work / two done?'), 420_000);
  const [key, ...others] = Object.keys(inputRequests) as [string];
  expect(others).toEqual([]);
  hosts.letGo('careful');
  await client.answer(token, key, { action: 'accept', content: { decision: 'run_again' } });
  await client.until(token, 'completed');
  expect(hosts.lines('careful').filter((line) => line.endsWith('second'))).toEqual([]);
}, 900_000);

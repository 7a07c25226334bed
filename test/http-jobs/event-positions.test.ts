/** Event stream positions are sent in a header, so they must stay short for pipelines of any size. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { streamStepLogs } from '../../engine/events/logs.js';
import { copyPosition, nameDigest, startPosition } from '../../engine/events/position.js';
import type { ChildRecord } from '../../operations/record.js';
import { sealOf } from '../../platform/home/seal.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import { folderStorage } from '../../platform/storage/index.js';
import { temporaryFolder } from '../support/for-all-tests.js';

const folder = temporaryFolder('positions');
const storage = folderStorage(folder);
const at = '2026-01-01T00:00:00Z';
/** Key of a step's log that is one chunk. */
const chunkKey = (...log: Parameters<typeof stepLogPrefix>) => `${stepLogPrefix(...log)}0`;

function part(index: number, status: 'working' | 'completed', steps: number): ChildRecord {
  return {
    name: `each[${index}]`,
    status,
    steps: Array.from({ length: steps }, () => ({ name: 'Say', status, startedAt: at })),
  };
}

test('of a part with most steps among most parts: it still opens', async () => {
  const children = [
    ...Array.from({ length: 4_800 }, (_, index) => part(index, 'completed', 1)),
    part(4_800, 'working', 200),
  ];
  const line = Buffer.from(`${'x'.repeat(99)}\n`);
  for (let step = 1; step <= 200; step += 1)
    await storage.put(
      chunkKey('w', 'each[4800]', step),
      Buffer.concat(Array.from({ length: 500 }, () => line)),
    );
  const position = startPosition('3f2504e0-4f89-41d3-9a0c-0305e82c3301');
  const busy = nameDigest('each[4800]');
  let lines = 0;
  for (;;) {
    const events = streamStepLogs(storage, 'w', children, position.logs, false);
    let next = await events.next();
    for (; !next.done; next = await events.next()) lines += next.value.lines.length;
    const isDelivered = position.logs.at[busy]?.length === 400;
    if (isDelivered && !next.value.hasMore) break;
  }
  expect(lines).toBe(200 * 500);
  // The largest numbers that a log can have.
  position.logs.at[busy] = position.logs.at[busy]!.map((number, index) =>
    index % 2 ? 2 ** 28 : number + 9e5,
  );
  // More open questions than a position holds.
  position.state.questions = Array.from({ length: 1_000 }, (_, index) => nameDigest(`input-${index}`)).join(
    '',
  );
  const ids = sealOf<typeof position>(randomBytes(32), 'test');
  const sent = copyPosition({ ...position, event: 50_000 });
  const id = ids.seal(sent);
  // The longest text that a seal opens, and half of the header size that Node.js takes.
  expect(id.length).toBeLessThan(8_192);
  expect(ids.open(id)).toEqual(sent);
});

test('the logs of many parts are streamed in turn, each line once', async () => {
  const children = Array.from({ length: 100 }, (_, index) => part(index, 'completed', 2));
  for (const { name } of children)
    for (const step of [1, 2]) await storage.put(chunkKey('v', name, step), Buffer.from(`${name} ${step}\n`));
  const { logs } = startPosition('run');
  const texts: string[] = [];
  for (let rounds = 0; rounds < 10; rounds += 1) {
    const events = streamStepLogs(storage, 'v', children, logs, true);
    let next = await events.next();
    for (; !next.done; next = await events.next()) texts.push(...next.value.lines.map(({ text }) => text));
    if (next.value.isDone) break;
    expect(rounds).toBeLessThan(9);
  }
  expect(texts).toEqual(children.flatMap(({ name }) => [`${name} 1`, `${name} 2`]));
  expect(logs.at).toEqual({});
});

test('in a list with other parts, as after a continue-as-new, no log counts as delivered by its place', async () => {
  const [first, second] = [part(1, 'completed', 1), part(2, 'completed', 1)];
  for (const { name } of [first, second]) await storage.put(chunkKey('u', name, 1), Buffer.from(`${name}\n`));
  const { logs } = startPosition('run');
  const texts: string[] = [];
  for (const list of [[first], [second]])
    for await (const { lines } of streamStepLogs(storage, 'u', list, logs, true))
      texts.push(...lines.map(({ text }) => text));
  expect(texts).toEqual([first.name, second.name]);
});

test('in a longer list of the same parts, only the new ones count as new', async () => {
  const list = [1, 2, 3].map((index) => part(index, 'completed', 1));
  for (const { name } of list) await storage.put(chunkKey('t', name, 1), Buffer.from(`${name}\n`));
  const { logs } = startPosition('run');
  const texts: string[] = [];
  for (const length of [1, 3, 3])
    for await (const { lines } of streamStepLogs(storage, 't', list.slice(0, length), logs, true))
      texts.push(...lines.map(({ text }) => text));
  expect(texts).toEqual(list.map(({ name }) => name));
});

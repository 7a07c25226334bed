/** Batches of requests and returns of turns, without Temporal. */
import { expect, test } from '@jest/globals';
import type { TurnChange } from '../../operations/wire/queue-wire.js';
import { TurnSender } from '../../worker/process/turn-activities.js';

const changeOf = (id: string | number): TurnChange => ({ return: String(id) });

/** A sender whose signals end when the test says so. */
function heldSender() {
  const sent: { queue: string; ids: string[]; end: (error?: Error) => void }[] = [];
  const sender = new TurnSender(
    (queue, changes) =>
      new Promise((resolve, reject) => {
        const ids = changes.map((change) => ('ask' in change ? change.ask.id : change.return));
        sent.push({ queue, ids, end: (error) => (error ? reject(error) : resolve()) });
      }),
  );
  return { sender, sent };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('changes that come while a signal is on its way go together with the next one, in order', async () => {
  const { sender, sent } = heldSender();
  const first = sender.send('q', changeOf('a'));
  await settled();
  const others = ['b', 'c', 'd'].map((id) => sender.send('q', changeOf(id)));
  await settled();
  expect(sent.map(({ ids }) => ids)).toEqual([['a']]);
  sent[0]!.end();
  await first;
  await settled();
  expect(sent.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'd']]);
  sent[1]!.end();
  await Promise.all(others);
});

test('queues do not wait for each other, and an idle one sends at once', async () => {
  const { sender, sent } = heldSender();
  void sender.send('q', changeOf('a'));
  void sender.send('r', changeOf('b'));
  await settled();
  expect(sent.map(({ queue, ids }) => [queue, ids])).toEqual([
    ['q', ['a']],
    ['r', ['b']],
  ]);
  sent[0]!.end();
  await settled();
  void sender.send('q', changeOf('c'));
  await settled();
  expect(sent.at(-1)!.ids).toEqual(['c']);
});

test('a failed signal fails its own changes alone', async () => {
  const { sender, sent } = heldSender();
  const first = sender.send('q', changeOf('a'));
  await settled();
  const second = sender.send('q', changeOf('b'));
  sent[0]!.end(new Error('no Temporal'));
  await expect(first).rejects.toThrow('no Temporal');
  await settled();
  sent[1]!.end();
  await second;
});

test('a signal has a bounded number of changes', async () => {
  const { sender, sent } = heldSender();
  const all = Array.from({ length: 250 }, (_, at) => sender.send('q', changeOf(at)));
  for (let at = 0; at < 3; at += 1) {
    await settled();
    sent[at]!.end();
  }
  await Promise.all(all);
  expect(sent.map(({ ids }) => ids.length)).toEqual([100, 100, 50]);
  expect(sent.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 250 }, (_, at) => String(at)));
});

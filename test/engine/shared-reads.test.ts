/** Reads that concurrent callers share. */
import { expect, test } from '@jest/globals';
import { SharedReads } from '../../engine/read/records.js';
import { eventually } from '../support/eventually.js';

/** A source whose reads stay open until they are answered, in the order in which they were sent. */
class Source {
  readonly sent: ((settle: 'answer' | 'fail') => void)[] = [];
  version = 0;

  readonly read = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const { version } = this;
      this.sent.push((settle) => (settle === 'answer' ? resolve(version) : reject(new Error('failed'))));
    });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('callers that come while a read runs share the next one, which sees what came before their calls', async () => {
  const source = new Source();
  const reads = new SharedReads<number>();
  const first = reads.read('a', source.read);
  source.version = 1;
  const others = Array.from({ length: 20 }, () => reads.read('a', source.read));
  await turn();
  expect(source.sent).toHaveLength(1);
  source.version = 2;
  source.sent[0]!('answer');
  expect(await first).toBe(0);
  await turn();
  expect(source.sent).toHaveLength(2);
  // Sent already, so this call waits for the read after it.
  source.version = 3;
  const late = reads.read('a', source.read);
  source.sent[1]!('answer');
  expect(await Promise.all(others)).toEqual(others.map(() => 2));
  await turn();
  source.sent[2]!('answer');
  expect(await late).toBe(3);
  expect(source.sent).toHaveLength(3);
});

test('reads of other keys are sent at once, as is the next read of a key without running ones', async () => {
  const source = new Source();
  const reads = new SharedReads<number>();
  const both = [reads.read('a', source.read), reads.read('b', source.read)];
  expect(source.sent).toHaveLength(2);
  for (const settle of source.sent) settle('answer');
  await Promise.all(both);
  void reads.read('a', source.read);
  expect(source.sent).toHaveLength(3);
});

test('a failed read fails for those who share it, and not for those behind it', async () => {
  const source = new Source();
  const reads = new SharedReads<number>();
  const first = reads.read('a', source.read);
  const second = reads.read('a', source.read);
  source.sent[0]!('fail');
  await expect(first).rejects.toThrow('failed');
  await turn();
  source.sent[1]!('answer');
  expect(await second).toBe(0);
});

test('a read that gets no answer does not hold up the next one', async () => {
  const source = new Source();
  const reads = new SharedReads<number>();
  const first = reads.read('a', source.read);
  const second = reads.read('a', source.read);
  await eventually('the next one is sent', () => source.sent.length === 2);
  source.sent[1]!('answer');
  expect(await second).toBe(0);
  source.sent[0]!('answer');
  expect(await first).toBe(0);
});

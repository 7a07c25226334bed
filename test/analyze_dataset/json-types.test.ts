/** Types of JSON columns: mixed types, rare keys, keys that differ by case only. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, writeParquet } from '../../activities/analyze_dataset/analysis.js';
import { lines, ValueSandbox } from './values-support.js';

let values: ValueSandbox;
beforeAll(async () => {
  values = await ValueSandbox.make();
});
afterAll(() => values.box.remove());

describe('JSON columns of several types', () => {
  it('are text without quotes, with a note', async () => {
    await values.box.file(
      'mixed.jsonl',
      lines([{ k: 'A1' }, { k: 7 }, { k: true }, { k: null }, { k: { a: [1] } }]),
    );
    expect(await values.rowsOf('mixed.jsonl', { column: 'k', op: 'eq', value: 'A1' })).toEqual([['A1']]);
    const groups = await values.query('mixed.jsonl', { group_by: ['k'] });
    expect(groups.rows.map(([value]) => value)).toEqual(['7', 'A1', 'true', '{"a":[1]}', null]);
    expect(groups.notes).toEqual([
      'Column "k" is read as text: it mixes lists or objects, which stay JSON, with other values.',
    ]);
  });

  it.each([
    ['rare', Array.from({ length: 40 }, (_, row) => (row === 0 ? { a: null, b: 1 } : {})), ['a', 'b']],
    [
      'many',
      [Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, index]))],
      Array.from({ length: 300 }, (_, index) => `k${index}`),
    ],
  ])('are columns each where they are %s', async (_, rows, names) => {
    await values.box.file('keys.jsonl', lines(rows));
    const { columns, notes } = await inspect('keys.jsonl', values.box.options);
    expect([columns.map(({ name }) => name), notes]).toEqual([names, []]);
  });

  it('are missing values where a file has no others', async () => {
    await values.box.file('none.jsonl', lines([{ a: null }, {}]));
    expect((await values.query('none.jsonl', {})).rows).toEqual([[null], [null]]);
    await values.box.file('numbers.json', '[1, 2]');
    expect((await values.query('numbers.json', {})).rows).toEqual([[1], [2]]);
  });

  it('are found however late another type or key comes', async () => {
    const numbers = Array.from({ length: 30_000 }, (_, index) => ({
      k: index % 2 ? index : null,
      none: null,
    }));
    await values.box.file('late-key.jsonl', lines([...numbers, { k: 1, none: 'B2', late: 'here' }]));
    expect(await values.rowsOf('late-key.jsonl', { column: 'none', op: 'eq', value: 'B2' })).toEqual([
      [1, 'B2', 'here'],
    ]);
    await values.box.file('late-text.jsonl', lines([...numbers, { k: 'A1' }]));
    const { notes, rows } = await values.query('late-text.jsonl', {
      filters: [{ column: 'k', op: 'eq', value: 'A1' }],
    });
    expect(rows[0]![0]).toBe('A1');
    expect(notes).toEqual([
      'Column "k" is read as text: it mixes strings, numbers or booleans, so "1" and 1 are the same.',
    ]);
  });

  it('keep lists and objects as JSON, without a note', async () => {
    await values.box.file('nested.jsonl', lines([{ k: { a: 1, A: 2 } }, { k: [1, 'b'] }]));
    const { rows, notes } = await values.query('nested.jsonl');
    expect(rows).toEqual([['{"a":1,"A":2}'], ['[1,"b"]']]);
    expect(notes).toEqual([]);
  });
});

describe('nested JSON', () => {
  it.each([
    ['lists', '[', ']'],
    ['objects', '{"b":', '}'],
  ])('has types for 20 levels of %s, and is JSON below', async (_, open, close) => {
    const levels = 30;
    await values.box.file('nested.json', `{"a":${open.repeat(levels)}1${close.repeat(levels)}}`);
    const { rows } = await values.query('nested.json');
    let value: any = rows[0]![0];
    let depth = 0;
    for (; typeof value === 'object'; depth++) value = value.b ?? value[0];
    expect(depth).toBeGreaterThanOrEqual(19);
    expect(value).toBe(`${open.repeat(levels - depth)}1${close.repeat(levels - depth)}`);
  });

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"b":', '}'],
  ])('of 10,000 %s in each other is read, and so is its artifact', async (name, open, close) => {
    await values.box.file(`${name}.json`, `{"a":${open.repeat(10_000)}1${close.repeat(10_000)}}`);
    const { rows, rowCount } = await values.query(`${name}.json`);
    expect(rowCount).toBe(1);
    expect(rows[0]![0]).toMatch(/characters\)$/);
    const artifact = path.join(values.box.data, `${name}.parquet`);
    await writeParquet({ path: `${name}.json`, limit: 1 }, artifact, values.box.options);
    expect((await values.query(`${name}.parquet`)).rows).toEqual(rows);
  });
});

describe('names that differ by case only', () => {
  it('are two columns in JSON, of which a note has both names', async () => {
    await values.box.file('twins.jsonl', lines([{ a: 1, A: 'x' }, { a: 2 }, { A: 'y' }]));
    const { columns, rows, notes } = await values.query('twins.jsonl');
    expect(columns.map(({ name }) => name)).toEqual(['a', 'A_1']);
    expect(rows).toEqual([
      [1, 'x'],
      [2, null],
      [null, 'y'],
    ]);
    expect(notes).toEqual(['Columns "a" and "A" differ by case only: "A" is called "A_1".']);
    expect(await values.rowsOf('twins.jsonl', { column: 'A_1', op: 'eq', value: 'y' })).toEqual([
      [null, 'y'],
    ]);
    await values.box.file('numbered.jsonl', lines([{ a: 1, a_1: 2 }]));
    expect((await values.query('numbered.jsonl')).notes).toEqual([]);
    await values.box.file('both.jsonl', lines([{ a: 1, A: 2, A_1: 3 }]));
    expect((await values.query('both.jsonl')).columns).toHaveLength(3);
    expect((await values.query('both.jsonl')).rows[0]!.map(Number).sort()).toEqual([1, 2, 3]);
  });
});

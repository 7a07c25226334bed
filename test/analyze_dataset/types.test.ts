/** Types of values in every format, of Parquet and of JSON; the reading that all calls share. */
import { copyFile, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, runQuery, writeParquet } from '../../activities/analyze_dataset/analysis.js';
import { lines, plainSql, refusal, ValueSandbox } from './support.js';

let values: ValueSandbox;
beforeAll(async () => {
  values = await ValueSandbox.make();
});
afterAll(() => values.box.remove());

it('infinite values count, as NaN does not', async () => {
  const { types, rows, notes } = await values.read('infinite.csv', 'x\n1.5\ninf\n-Infinity\n');
  expect({ types, rows, notes }).toEqual({
    types: ['DOUBLE'],
    rows: [[1.5], ['Infinity'], ['-Infinity']],
    notes: [],
  });
  const aggregates = (['sum', 'avg', 'stddev', 'max'] as const).map((fn) => ({ fn, column: 'x' }));
  expect((await values.query('infinite.csv', { aggregates })).rows).toEqual([[null, null, null, 'Infinity']]);
});

it('the median of decimals may lie between two of them', async () => {
  const file = `${values.box.data}/decimals.parquet`;
  await plainSql(`COPY (SELECT unnest([4.64, 4.65])::DECIMAL(18, 2) AS x) TO '${file}'`);
  expect((await values.query(file, { aggregates: [{ fn: 'median', column: 'x' }] })).rows).toEqual([[4.645]]);
});

it.each(['jsonl', 'csv'])('time zones are the same in %s: rows, groups and filters', async (format) => {
  const rows = [
    { zoned: '2024-01-01T12:00:00+02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
    { zoned: '2024-01-01T08:00:00-02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
  ];
  const csv = ['zoned,utc,local', ...rows.map((row) => Object.values(row).join(','))].join('\n');
  const path = `zones.${format}`;
  await values.box.file(path, format === 'csv' ? csv : lines(rows));
  const { columns, rows: groups } = await values.query(path, { group_by: ['zoned', 'utc', 'local'] });
  const zoned = 'TIMESTAMP WITH TIME ZONE';
  expect(columns.slice(0, 3).map(({ type }) => type)).toEqual([zoned, zoned, 'TIMESTAMP']);
  expect(groups).toEqual([['2024-01-01T10:00:00Z', '2024-01-01T10:00:00Z', '2024-01-01T12:00:00', 2]]);
  const eq = (column: string, value: string) => values.rowsOf(path, { column, op: 'eq', value });
  expect(await eq('zoned', '2024-01-01T11:00:00+01:00')).toHaveLength(2);
  const refused = await refusal(eq('local', '2024-01-01T12:00:00+02:00'));
  expect(refused.message).toContain('a date or time without a time zone, since the column has none');
});

it('a reading is of one file: when that has changed, a call is refused', async () => {
  await values.box.file('changed.csv', 'a\n1\n');
  const { reading } = await inspect('changed.csv', values.box.options);
  await values.box.file('changed.csv', 'a\n1\nx\n');
  const later = runQuery({ path: 'changed.csv', limit: 5 }, { ...values.box.options, reading });
  expect((await refusal(later)).message).toContain('changed.csv has changed');
});

describe('Parquet', () => {
  it('keeps nanoseconds, also beside names of another case', async () => {
    const file = `${values.box.data}/odd.parquet`;
    await plainSql(
      `COPY (SELECT TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS ns, 1 AS a, 2 AS "a_1", [TIMESTAMPTZ '2024-01-01 02:00:00+02'] AS l) TO '${file}'`,
    );
    const { rows, notes } = await values.query(file);
    expect(rows).toEqual([['2024-01-01T00:00:00.123456789', 1, 2, ['2024-01-01T00:00:00Z']]]);
    expect(notes).toEqual([]);
  });

  // Made with pyarrow: DuckDB writes neither.
  it.each([
    ['decimals of 76 digits', 'wide.parquet', 'has decimals of more than 38 digits'],
    ['nanoseconds with a zone', 'zoned.parquet', 'Times of "t" are cut to microseconds.'],
  ])('of %s is refused or has a note', async (_, name, said) => {
    const copy = await readFile(new URL(`./parquet/${name}`, import.meta.url));
    await values.box.file(name, copy);
    const found = await inspect(name, values.box.options).then(
      ({ notes }) => notes.join(),
      (thrown: Error) => thrown.message,
    );
    expect(found).toContain(said);
  });
});

const OFFSET = '2024-01-01T12:00:00+02:00';
const MIXED =
  'mixes types of values: all are text without quotes, so "1" and 1 are the same; lists and objects are JSON text.';
const LATER = 'types, null_values or date_format read it otherwise.';
const numbers = Array.from({ length: 30_000 }, (_, index) => ({ k: index % 2 ? index : null, none: null }));

describe('JSON', () => {
  it.each<[string, unknown[], string[], unknown[][], string[]]>([
    ['an array of numbers', [[1, 2]], ['BIGINT'], [[1], [2]], []],
    ['no value at all', [{ a: null }, {}], ['VARCHAR'], [[null], [null]], []],
    ['values and null', [{ a: 1, b: true }, { a: null, b: null }], ['BIGINT', 'BOOLEAN'], [[1, true], [null, null]], []],
    ['values of several types', [{ k: 'A1' }, { k: 7 }, { k: null }, { k: { a: ['x'] } }], ['VARCHAR'], [['A1'], ['7'], [null], ['{"a":["x"]}']], [`Column "k" ${MIXED}`]],
    ['such fields', [{ u: { k: 'x' } }, { u: { k: 1 } }], ['STRUCT(k VARCHAR)'], [[{ k: 'x' }], [{ k: '1' }]], ['Column "u" has fields that mix types of values, or have none: they are text without quotes.']],
    ['offsets', [{ t: OFFSET }], ['TIMESTAMP WITH TIME ZONE'], [['2024-01-01T10:00:00Z']], []],
    ['offsets in objects and lists', [{ s: { t: OFFSET }, l: [OFFSET] }, { s: { t: 'x' }, l: [] }], ['STRUCT(t VARCHAR)', 'VARCHAR[]'], [[{ t: OFFSET }, [OFFSET]], [{ t: 'x' }, []]], []],
    ['dates in objects and lists', [{ s: { DATE: '2024-02-30', '"d': '2024-01-01' }, l: ['2024-01-31'] }], ['STRUCT(DATE VARCHAR, """d" VARCHAR)', 'VARCHAR[]'], [[{ DATE: '2024-02-30', '"d': '2024-01-01' }, ['2024-01-31']]], []],
    ['nanoseconds with a zone', [{ t: '2024-01-01T00:00:00.123456789Z' }], ['VARCHAR'], [['2024-01-01T00:00:00.123456789Z']], []],
    ['microseconds', [{ t: '2024-01-01 00:00:00.123456' }], ['TIMESTAMP'], [['2024-01-01T00:00:00.123456']], []],
    ['texts that look like other types', [{ u: 'ABCDEF01-0000-4000-8000-000000000000', n: '12', b: 'true' }], ['VARCHAR', 'VARCHAR', 'VARCHAR'], [['ABCDEF01-0000-4000-8000-000000000000', '12', 'true']], []],
    ['keys that come late', [...numbers, { k: 1, late: 'here' }], ['BIGINT', 'VARCHAR', 'VARCHAR'], [], []],
    ['a type that comes late', [...numbers, { k: 'A1' }], ['VARCHAR', 'VARCHAR'], [], [`Column "k" ${MIXED}`]],
  ])('of %s', async (_, rows, types, expected, notes) => {
    const found = await values.read('file.jsonl', lines(rows));
    expect({ types: found.types, notes: found.notes }).toEqual({ types, notes });
    if (expected.length > 0) expect(found.rows).toEqual(expected);
  }); // prettier-ignore

  it('keeps the digits of integers, or names them', async () => {
    const text = '{"a":9007199254740993,"b":12345678901234567890,"o":1}\n{"a":1.5,"b":1,"o":2}\n';
    const found = await values.read('long.jsonl', text);
    expect(found.types).toEqual(['VARCHAR', 'DECIMAL(38,0)', 'BIGINT']);
    expect(found.rows).toEqual([['9007199254740993', '12345678901234567890', 1], ['1.5', 1, 2]]); // prettier-ignore
    expect(found.notes[0]).toBe(`Column "a" is text: DOUBLE would change "9007199254740993". ${LATER}`);
    for (const number of ['9007199254740993', `0.${'1'.repeat(76)}`, '123456789012345678.25']) {
      const within = await values.read('within.jsonl', `{"o":{"n":${number}}}\n{"o":{"n":1.5}}\n`);
      expect(within.notes.join()).toContain(`such as ${number}, may be cut`);
    }
    const plain = lines([{ a: 0.08438281920913297, o: { n: 1234.5 } }]);
    expect((await values.read('plain.jsonl', plain)).notes).toEqual([]);
  });

  it.each([199, 200, 300])('has a column for each of %s keys, and a value for each within', async (count) => {
    const row = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect((await values.read('keys.jsonl', lines([row]))).names).toEqual(Object.keys(row));
    expect((await values.read('object.jsonl', lines([{ o: row, n: 1 }]))).rows).toEqual([[row, 1]]);
  });

  it('may give types and dates', async () => {
    const types = { a: 'BIGINT' };
    const text = lines([{ a: '007', d: '31/01/2024', o: { x: 1 } }]);
    const found = await values.read('given.jsonl', text, { types, date_format: '%d/%m/%Y' });
    expect(found.rows).toEqual([[7, '2024-01-31', { x: 1 }]]);
    const asText = await values.read('given.jsonl', text, { types: { o: 'VARCHAR' } });
    expect(asText.rows).toEqual([['007', '31/01/2024', '{"x":1}']]);
  });

  it('with keys that differ by case only is refused, and is text within', async () => {
    const text = lines([{ a: 1, A: 'x' }, { a: 2 }]);
    expect(await values.refused('twins.jsonl', text)).toContain('keys that differ by case only');
    expect((await values.read('numbered.jsonl', lines([{ a: 1, a_1: 2 }]))).rows).toEqual([[1, 2]]);
    const nested = await values.read('nested.jsonl', lines([{ k: { a: 1, A: 2 } }]));
    expect(nested.rows).toEqual([['{"a":1,"A":2}']]);
  });
});

describe.each([
  ['lists', '[', ']'],
  ['objects', '{"b":', '}'],
])('nested JSON of %s', (name, open, close) => {
  it('has types for 20 levels, and is JSON below', async () => {
    const levels = 30;
    await values.box.file('nested.json', `{"a":${open.repeat(levels)}1${close.repeat(levels)}}`);
    const { rows } = await values.query('nested.json');
    let value: any = rows[0]![0];
    let depth = 0;
    for (; typeof value === 'object'; depth++) value = value.b ?? value[0];
    expect(depth).toBeGreaterThanOrEqual(19);
    expect(value).toBe(`${open.repeat(levels - depth)}1${close.repeat(levels - depth)}`);
  });

  it('is read with 10,000 levels, and so is its artifact', async () => {
    await values.box.file(`${name}.json`, `{"a":${open.repeat(10_000)}1${close.repeat(10_000)}}`);
    const { rows, rowCount } = await values.query(`${name}.json`);
    expect(rowCount).toBe(1);
    expect(rows[0]![0]).toMatch(/characters\)$/);
    const { file } = await writeParquet({ path: `${name}.json`, limit: 1 }, values.box.options);
    await copyFile(file, `${values.box.data}/${name}.parquet`);
    expect((await values.query(`${name}.parquet`)).rows).toEqual(rows);
  });
});

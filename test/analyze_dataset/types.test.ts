/** Values in every format: NaN and infinities, decimals, time zones; what Parquet has beyond DuckDB; the reading that all calls share. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, profileColumns, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { Reading } from '../../activities/analyze_dataset/dataset.js';
import { lines, plainSql, refusal, ValueSandbox } from './support.js';

let values: ValueSandbox;
beforeAll(async () => {
  values = await ValueSandbox.make();
});
afterAll(() => values.box.remove());

describe('NaN', () => {
  it.each(['parquet', 'csv'])(
    'is missing in %s: in filters, aggregates, order and profile',
    async (format) => {
      const file = `${values.box.data}/nan.${format}`;
      await plainSql(
        `COPY (SELECT * FROM (VALUES (1, 1.5::DOUBLE), (2, 'nan'::DOUBLE), (3, -2.5::DOUBLE), (4, NULL)) AS t(id, x)) TO '${file}'`,
      );
      const aggregates = (['count', 'max', 'min', 'avg', 'sum', 'median'] as const).map((fn) => ({
        fn,
        column: 'x',
      }));
      const { rows, notes } = await values.query(file, { aggregates });
      expect(rows).toEqual([[2, 1.5, -2.5, -0.5, -1, -0.5]]);
      expect(notes.at(-1)).toBe('Column "x": 1 NaN is missing.');
      expect(await values.rowsOf(file, { column: 'x', op: 'gt', value: 0 })).toEqual([[1, 1.5]]);
      expect(await values.rowsOf(file, { column: 'x', op: 'is_null' })).toEqual([
        [2, null],
        [4, null],
      ]);
      const ordered = await values.query(file, { order_by: [{ column: 'x', direction: 'desc' }] });
      expect(ordered.rows.map(([id]) => id).slice(0, 2)).toEqual([1, 3]);
      const [profile] = await profileColumns(file, ['x'], values.box.options);
      expect(profile).toMatchObject({ null_count: 2, max: 1.5, mean: -0.5 });
    },
  );

  it('is the only value that is: infinite ones count', async () => {
    const { types, rows, notes } = await values.read('infinite.csv', 'x\n1.5\ninf\n-Infinity\n');
    expect({ types, rows, notes }).toEqual({
      types: ['DOUBLE'],
      rows: [[1.5], ['Infinity'], ['-Infinity']],
      notes: [],
    });
    const aggregates = (['sum', 'avg', 'stddev', 'max'] as const).map((fn) => ({ fn, column: 'x' }));
    expect((await values.query('infinite.csv', { aggregates })).rows).toEqual([
      [null, null, null, 'Infinity'],
    ]);
  });
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

describe('a reading', () => {
  it('is the same in every call, and survives a trip through JSON', async () => {
    const given = { date_format: '%d/%m/%Y', null_values: ['NA'] };
    await values.box.file('trip.csv', 'd,n\n01/02/2024,NA\n02/03/2024,1\n');
    const { reading, columns } = await inspect('trip.csv', { ...values.box.options, given });
    const again = JSON.parse(JSON.stringify(reading)) as Reading;
    const result = await runQuery({ path: 'trip.csv', limit: 5 }, { ...values.box.options, reading: again });
    expect(result.columns).toEqual(columns);
    expect(result.rows).toEqual([
      ['2024-02-01', null],
      ['2024-03-02', 1],
    ]);
  });

  it('is of one file: when that has changed, a call is refused', async () => {
    await values.box.file('changed.csv', 'a\n1\n');
    const { reading } = await inspect('changed.csv', values.box.options);
    await values.box.file('changed.csv', 'a\n1\nx\n');
    const later = runQuery({ path: 'changed.csv', limit: 5 }, { ...values.box.options, reading });
    expect((await refusal(later)).message).toContain('changed.csv has changed');
  });
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

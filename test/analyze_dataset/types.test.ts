/** Values in every format: NaN and infinities, decimals, time zones, and the reading that all calls share. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, profileColumns, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { Reading } from '../../activities/analyze_dataset/analysis.js';
import { plainSql, refusal } from './support.js';
import { lines, ValueSandbox } from './values-support.js';

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
      expect(notes).toEqual(['Column "x": 1 NaN value counts as missing.']);
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

  it('is the only value that is: infinite ones count, and are noted', async () => {
    const { type, notes, rows } = await values.column(['1.5', 'inf', '-Infinity'], 'infinite.csv');
    expect({ type, rows }).toEqual({ type: 'DOUBLE', rows: [1.5, 'Infinity', '-Infinity'] });
    expect(notes).toEqual([
      'Column "x": 2 values are infinite, so sums and averages over them are infinite or missing.',
    ]);
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

describe('time zones', () => {
  it('are the same in CSV and JSON: rows, groups and filters', async () => {
    const rows = [
      { zoned: '2024-01-01T12:00:00+02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
      { zoned: '2024-01-01T08:00:00-02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
    ];
    await values.box.file('zones.jsonl', lines(rows));
    await values.box.file(
      'zones.csv',
      ['zoned,utc,local', ...rows.map((row) => Object.values(row).join(','))].join('\n'),
    );
    for (const path of ['zones.jsonl', 'zones.csv']) {
      const {
        columns,
        rows: groups,
        notes,
      } = await values.query(path, { group_by: ['zoned', 'utc', 'local'] });
      expect(columns.slice(0, 3).map(({ type }) => type)).toEqual([
        'TIMESTAMP WITH TIME ZONE',
        'TIMESTAMP WITH TIME ZONE',
        'TIMESTAMP',
      ]);
      expect(groups).toEqual([['2024-01-01T10:00:00Z', '2024-01-01T10:00:00Z', '2024-01-01T12:00:00', 2]]);
      expect(notes).toEqual([]);
      expect(
        await values.rowsOf(path, { column: 'zoned', op: 'eq', value: '2024-01-01T11:00:00+01:00' }),
      ).toHaveLength(2);
      const refused = await refusal(
        values.rowsOf(path, { column: 'local', op: 'eq', value: '2024-01-01T12:00:00+02:00' }),
      );
      expect(refused.message).toContain('a date or time without a time zone, since the column has none');
    }
  });
});

describe('a reading', () => {
  it('that was recorded before types came from all values is learned again', async () => {
    await values.box.file('old.csv', 'zip,x\n01234,1\n00001,2\n');
    const reading: Reading = { textColumns: ['x'], wholeFileTypes: false };
    const { rows } = await runQuery({ path: 'old.csv', limit: 5 }, { ...values.box.options, reading });
    expect(rows).toEqual([
      ['01234', 1],
      ['00001', 2],
    ]);
  });

  it('is the same in every call, and survives a trip through JSON', async () => {
    await values.box.file('trip.csv', 'd,n\n01/02/2024,NA\n02/03/2024,1\n');
    const { reading, columns } = await inspect('trip.csv', values.box.options);
    const again = JSON.parse(JSON.stringify(reading)) as Reading;
    const result = await runQuery({ path: 'trip.csv', limit: 5 }, { ...values.box.options, reading: again });
    expect(result.columns).toEqual(columns);
    expect(result.rows).toEqual([
      ['2024-02-01', null],
      ['2024-03-02', 1],
    ]);
  });
});

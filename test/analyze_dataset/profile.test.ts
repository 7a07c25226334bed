/** Steps of a call: inspecting, a profile, the Parquet artifact, and the text. */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  inspect,
  profileColumns,
  runQuery,
  writeParquet,
} from '../../activities/analyze_dataset/analysis.js';
import { estimateDatasetArtifact } from '../../activities/analyze_dataset/index.js';
import analyzeDataset, {
  analyzeDatasetInput,
  columnProfileSchema,
} from '../../tools/analyze_dataset/index.js';
import { FLIGHTS, plainSql, sandbox, VEGA } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

describe('inspecting', () => {
  it.each([
    ['flights-3m.parquet', 'parquet', 3_000_000, 5],
    ['flights-2k.json', 'json', 2000, 5],
    ['airports.csv', 'csv', 3376, 7],
    ['unemployment.tsv', 'csv', 3218, 2],
  ])('%s gives format, rows and columns', async (name, format, rowCount, columns) => {
    const inspection = await inspect(path.join(VEGA, name), box.options);
    expect(inspection).toMatchObject({ format, rowCount });
    expect(inspection.columns).toHaveLength(columns);
    expect(inspection.profileBatches.flat()).toEqual(inspection.columns.map((column) => column.name));
    const notes = {
      csv: [expect.stringMatching(/^CSV is read with (","|tabs) between fields, names in line 1/)],
      // 2001/01/10 18:20
      json: [expect.stringContaining('"date" is text: its dates are not ISO 8601')],
      parquet: [],
    };
    expect(inspection.notes).toEqual(notes[format as 'csv']);
  });

  it('a file with a header alone, or an empty array, gives no rows', async () => {
    await box.file('head.csv', 'a,b\n');
    await box.file('none.json', '[]');
    expect(await inspect('head.csv', box.options)).toMatchObject({
      rowCount: 0,
      columns: [{ name: 'a' }, { name: 'b' }],
    });
    expect(await inspect('none.json', box.options)).toMatchObject({ rowCount: 0 });
    const [a] = await profileColumns('head.csv', ['a'], box.options);
    expect(a).toMatchObject({ row_count: 0, null_count: 0, null_share: 0, min: null, top_values: [] });
  });
});

describe('a profile', () => {
  it('of Parquet says of every column what plain SQL says', async () => {
    const profiles = await profileColumns(FLIGHTS, ['delay', 'origin', 'date'], box.options);
    for (const profile of profiles) expect(columnProfileSchema.safeParse(profile).error).toBeUndefined();
    const [[min, max, mean, stddev]] = (await plainSql(
      `SELECT min(delay), max(delay), avg(delay), stddev_samp(delay) FROM '${FLIGHTS}'`,
    )) as [number[]];
    const [delay, origin, date] = profiles;
    expect(delay).toMatchObject({ row_count: 3_000_000, null_count: 0, min, max, top_values: null });
    expect(delay!.mean).toBeCloseTo(mean!, 6);
    expect(delay!.stddev).toBeCloseTo(stddev!, 6);
    expect(Math.abs(delay!.approx_quartiles![1]! + 1)).toBeLessThan(0.5);
    expect(origin!.top_values!.map(({ value, count }) => [value, count])).toEqual(
      await plainSql(`SELECT origin, count(*) FROM '${FLIGHTS}' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`),
    );
    const [[delays, origins]] = (await plainSql(
      `SELECT count(DISTINCT delay), count(DISTINCT origin) FROM '${FLIGHTS}'`,
    )) as [number[]];
    expect([delay!.approx_distinct, origin!.approx_distinct]).toEqual([delays, origins]);
    expect(date).toMatchObject({ type: 'TIMESTAMP', min: '2001-01-01T00:01:00', mean: null });
  });

  it('reports progress in columns', async () => {
    box.reports.length = 0;
    await profileColumns(FLIGHTS, ['delay', 'origin'], box.options);
    const message = 'profiling 2 columns, delay to origin';
    const heard = box.reports.map(({ share }) => share);
    expect(box.reports[0]).toEqual({ share: 0, message });
    expect(box.reports.at(-1)).toEqual({ share: 1, message });
    expect(heard).toEqual([...heard].sort((a, b) => a - b));
  });

  it('holds with missing values, NaN, booleans, nested values and values that are very long', async () => {
    const file = path.join(box.data, 'odd.parquet');
    await plainSql(
      `COPY (SELECT * FROM (VALUES (1.0::DOUBLE, NULL::INTEGER, true, [1, 2], repeat('x', 9000)),
                                   ('nan'::DOUBLE, NULL, true, NULL, NULL), ('inf'::DOUBLE, NULL, NULL, [3], 'y'))
             AS t(x, none, flag, list, long)) TO '${file}'`,
    );
    const profiles = await profileColumns(file, ['x', 'none', 'flag', 'list', 'long'], box.options);
    const [x, none, flag, list, long] = profiles;
    expect(x).toMatchObject({ mean: 1, stddev: null, min: 1, max: 'Infinity' });
    expect(none).toMatchObject({ null_count: 3, null_share: 1, approx_distinct: 0, min: null, mean: null });
    expect(flag).toMatchObject({ min: true, top_values: [{ value: true, count: 2 }] });
    expect(list).toMatchObject({ null_count: 1, min: null, top_values: null });
    expect(String(long!.min)).toHaveLength(200 + '… (9000 characters)'.length);
    for (const profile of profiles) expect(columnProfileSchema.safeParse(profile).error).toBeUndefined();
    const shown = await runQuery({ path: file, limit: 3 }, box.options);
    expect(String(shown.rows[0]![4])).toHaveLength(4096 + '… (9000 characters)'.length);
  });
});

const byRoute = {
  path: FLIGHTS,
  filters: [{ column: 'delay', op: 'gt' as const, value: 0 }],
  group_by: ['origin', 'destination'],
  aggregates: [{ fn: 'count' as const }, { fn: 'sum' as const, column: 'delay' }],
  order_by: [{ column: 'count', direction: 'desc' as const }],
  limit: 10,
};

describe('the Parquet artifact', () => {
  it('holds the whole result in its order, whatever the limit of the answer', async () => {
    const { file, rowCount } = await writeParquet(byRoute, box.options);
    const answer = await runQuery({ ...byRoute, limit: 1000 }, box.options);
    expect(rowCount).toBe(answer.rowCount);
    expect(rowCount).toBeGreaterThan(1000);
    expect(await plainSql(`SELECT * FROM '${file}' LIMIT 1000`)).toEqual(answer.rows);
  });

  it('keeps sums that a double could not hold', async () => {
    const source = path.join(box.data, 'big.parquet');
    await plainSql(`COPY (SELECT 9223372036854775807::BIGINT AS big FROM range(3)) TO '${source}'`);
    const query = {
      path: source,
      aggregates: [{ fn: 'sum' as const, column: 'big', as: 'total' }],
      limit: 1,
    };
    const { file } = await writeParquet(query, box.options);
    expect(await plainSql(`SELECT total::VARCHAR FROM '${file}'`)).toEqual([['27670116110564327421']]);
  });

  it('is estimated by its share of the rows before it is written', async () => {
    const file = { format: 'csv' as const, bytes: 1000, rowCount: 10 };
    expect(await estimateDatasetArtifact(5, file)).toEqual({ estimatedBytes: 250 });
    expect(await estimateDatasetArtifact(0, { ...file, rowCount: 0 })).toEqual({ estimatedBytes: 0 });
  });
});

it('every field of the input is described', () => {
  const { properties, required } = z.toJSONSchema(analyzeDatasetInput, { io: 'input' });
  for (const field of Object.values(properties ?? {}))
    expect((field as { description?: string }).description).toMatch(/\w+/);
  expect(required).toEqual(['path']);
});

it.each([
  [{ path: 'a.csv', limit: 1001 }],
  [{ path: 'a.csv', limit: 0 }],
  [{ path: '' }],
  [{ path: 'a.csv', sql: 'SELECT 1' }],
  [{ path: 'a.csv', filters: [{ column: 'a', op: 'like', value: 'x' }] }],
  [{ path: 'a.csv', filters: [{ column: 'a', op: 'eq', value: { $gt: 1 } }] }],
  [{ path: 'a.csv', header: -1 }],
])('the input %j is refused', (input) => {
  expect(analyzeDatasetInput.safeParse(input).success).toBe(false);
});

describe('the text', () => {
  const text = (names: string[], rows: unknown[][], rowCount: number) => {
    const columns = names.map((name) => ({ name, type: 'VARCHAR' }));
    const file = { path: 'a.csv', format: 'csv', bytes: 1, row_count: rowCount, columns };
    return analyzeDataset.toText({ file, columns, rows, row_count: rowCount, notes: ['A note.'] });
  };

  it('has a table of 50 rows, 30 columns and 8 kB, and says what it leaves out', () => {
    const rows = Array.from({ length: 200 }, (_, index) => [index, 'x'.repeat(100), 1.23456]);
    expect(text(['n', 'text', 'fraction'], rows, 12_345)).toMatch(/\(50 of 12,345 rows\)\n\nA note\.$/);
    const names = Array.from({ length: 40 }, (_, index) => `column ${index}`);
    expect(text(names, [names.map(() => null)], 1)).toContain('(30 of 40 columns)');
    expect(text(names, Array(60).fill(names.map(() => 'y'.repeat(80))), 60).length).toBeLessThan(8192);
  });

  it('has a line of the table for each row, whatever its values', () => {
    expect(text(['a|b'], [['x | y\n| z']], 1)).toBe(
      '| a\\|b        |\n| ----------- |\n| x \\| y \\| z |\n\nA note.',
    );
  });
});

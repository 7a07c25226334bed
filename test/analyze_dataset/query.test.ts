import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { Filter } from '../../tools/analyze_dataset/index.js';
import { FLIGHTS, plainSql, refusal, sandbox, VEGA } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
  await box.file(
    'people.csv',
    'id,name,born,score,member\n1,Ann,1990-05-01,1.5,true\n2,Bob,1985-01-31,,false\n3,,2001-12-24,2.5,true\n' +
      '9007199254740993,"Zoë|O\'Neil",1985-01-31,-1,\n',
  );
});
afterAll(() => box.remove());

const ids = async (filters: Filter[]) =>
  (await runQuery({ path: 'people.csv', filters, limit: 50 }, box.options)).rows.map((row) => row[0]);
const BIG = '9007199254740993';

describe('a query', () => {
  it('over 3 million rows of Parquet gives what one plain SQL query gives', async () => {
    const result = await runQuery(
      {
        path: FLIGHTS,
        filters: [
          { column: 'distance', op: 'ge', value: 500 },
          { column: 'date', op: 'lt', value: '2001-03-01' },
        ],
        group_by: ['origin'],
        aggregates: [
          { fn: 'count', as: 'flights' },
          { fn: 'count_distinct', column: 'destination' },
          { fn: 'sum', column: 'delay' },
          { fn: 'avg', column: 'delay' },
          { fn: 'min', column: 'date' },
          { fn: 'max', column: 'distance' },
          { fn: 'median', column: 'delay' },
          { fn: 'stddev', column: 'delay' },
        ],
        order_by: [{ column: 'flights', direction: 'desc' }],
        limit: 1000,
      },
      box.options,
    );
    const plain = await plainSql(
      `SELECT origin, count(*), count(DISTINCT destination), sum(delay), avg(delay), min(date), max(distance),
              median(delay), stddev_samp(delay)
       FROM '${FLIGHTS}' WHERE distance >= 500 AND date < TIMESTAMP '2001-03-01'
       GROUP BY origin ORDER BY count(*) DESC, origin`,
    );
    expect(result.columns.map(({ name }) => name)).toEqual([
      'origin',
      'flights',
      'count_distinct_destination',
      'sum_delay',
      'avg_delay',
      'min_date',
      'max_distance',
      'median_delay',
      'stddev_delay',
    ]);
    expect(result.rowCount).toBe(plain.length);
    expect(result.rows).toHaveLength(plain.length);
    for (const [index, row] of result.rows.entries()) {
      for (const [column, value] of row.entries()) {
        const expected = plain[index]![column];
        // A standard deviation's last digits hang on the order in which threads deliver.
        if (column === 8 && typeof expected === 'number') expect(value).toBeCloseTo(expected, 8);
        else expect(value).toEqual(expected);
      }
    }
  });

  it.each([
    ['a JSON array', `${VEGA}flights-200k.json`, 'read_json'],
    ['CSV', `${VEGA}birdstrikes.csv`, 'read_csv'],
  ])('over %s gives what one plain SQL query gives', async (_, path, read) => {
    const column = read === 'read_csv' ? 'Origin State' : 'distance';
    const result = await runQuery(
      {
        path,
        group_by: [column],
        order_by: [{ column: 'count', direction: 'desc' }],
        limit: 20,
      },
      box.options,
    );
    const plain = await plainSql(
      `SELECT "${column}", count(*) FROM ${read}('${path}') GROUP BY 1 ORDER BY 2 DESC, 1`,
    );
    expect(result.rows).toEqual(plain.slice(0, 20));
    expect(result.rowCount).toBe(plain.length);
  });

  it('reads newline-delimited JSON, gzipped CSV and names with the characters of patterns', async () => {
    const { gzipSync } = await import('node:zlib');
    await box.file('lines.ndjson', '{"a":1,"b":{"c":[1,2]}}\n{"a":2}\n');
    await box.file('packed.csv.gz', gzipSync('a\n1\n2\n3\n'));
    await box.file('sales [*].csv', 'a\n1\n');
    await box.file('sales [x].csv', 'a\n99\n');
    const lines = await runQuery({ path: 'lines.ndjson', limit: 5 }, box.options);
    expect(lines.rows).toEqual([
      [1, { c: [1, 2] }],
      [2, null],
    ]);
    expect((await runQuery({ path: 'packed.csv.gz', limit: 2 }, box.options)).rowCount).toBe(3);
    expect((await runQuery({ path: 'sales [*].csv', limit: 5 }, box.options)).rows).toEqual([[1]]);
  });

  it('keeps the order of the file when nothing is grouped or ordered', async () => {
    const result = await runQuery({ path: FLIGHTS, limit: 3 }, box.options);
    expect(result.rows).toEqual(await plainSql(`SELECT * FROM '${FLIGHTS}' LIMIT 3`));
    expect(result.rowCount).toBe(3_000_000);
    expect(result.rows[0]![0]).toBe('2001-01-01T00:01:00');
  });
});

describe('filters', () => {
  it.each<[string, Filter, unknown[]]>([
    ['eq number', { column: 'id', op: 'eq', value: 2 }, [2]],
    ['eq text', { column: 'name', op: 'eq', value: 'Ann' }, [1]],
    ['eq beyond 2^53', { column: 'id', op: 'eq', value: BIG }, [BIG]],
    ['eq date', { column: 'born', op: 'eq', value: '1985-01-31' }, [2, BIG]],
    ['eq boolean', { column: 'member', op: 'eq', value: true }, [1, 3]],
    ['ne leaves missing values out', { column: 'name', op: 'ne', value: 'Ann' }, [2, BIG]],
    ['lt', { column: 'score', op: 'lt', value: 1.5 }, [BIG]],
    ['le', { column: 'score', op: 'le', value: 1.5 }, [1, BIG]],
    ['gt a fraction on integers', { column: 'id', op: 'gt', value: 1.5 }, [2, 3, BIG]],
    ['lt a fraction on integers', { column: 'id', op: 'lt', value: 2.5 }, [1, 2]],
    ['ge a time on dates', { column: 'born', op: 'ge', value: '1990-05-01T00:00:01Z' }, [3]],
    ['in', { column: 'id', op: 'in', value: [1, '3', 7] }, [1, 3]],
    ['contains', { column: 'name', op: 'contains', value: 'nn' }, [1]],
    ['contains takes % as it is', { column: 'name', op: 'contains', value: '%' }, []],
    ['is_null', { column: 'score', op: 'is_null' }, [2]],
    ['not_null', { column: 'score', op: 'not_null' }, [1, 3, BIG]],
  ])('%s', async (_, filter, expected) => {
    expect(await ids([filter])).toEqual(expected);
  });

  it('must all match', async () => {
    expect(
      await ids([
        { column: 'member', op: 'eq', value: 'true' },
        { column: 'id', op: 'gt', value: 1 },
      ]),
    ).toEqual([3]);
  });

  it.each<[string, Filter, string]>([
    [
      'text for a number',
      { column: 'id', op: 'eq', value: 'abc' },
      'expected a number for "id" (BIGINT); got "abc"',
    ],
    ['a day that does not exist', { column: 'born', op: 'gt', value: '2001-02-30' }, 'ISO 8601'],
    ['a number for a boolean', { column: 'member', op: 'eq', value: 1 }, 'expected true or false'],
    ['in without a list', { column: 'id', op: 'in', value: 1 }, 'expected a list with in; got 1'],
    ['a list with eq', { column: 'id', op: 'eq', value: [1] }, 'expected one value with eq'],
    ['no value', { column: 'id', op: 'eq' }, 'got none'],
    ['a value with is_null', { column: 'id', op: 'is_null', value: 1 }, 'expected no value with is_null'],
  ])('refuse %s, saying where and what was expected', async (_, filter, words) => {
    const { code, message } = await refusal(ids([filter]));
    expect(code).toBe('bad_filter');
    expect(message).toContain('filters[0].value');
    expect(message).toContain(words);
  });
});

describe('columns and aggregates', () => {
  it('that do not exist are refused with the list of those that do', async () => {
    const { code, message } = await refusal(
      runQuery({ path: 'people.csv', group_by: ['nmae'], limit: 1 }, box.options),
    );
    expect(code).toBe('unknown_column');
    expect(message).toBe(
      'group_by[0]: expected one of the columns "id", "name", "born", "score", "member"; got "nmae"',
    );
    const order = await refusal(
      runQuery(
        { path: 'people.csv', group_by: ['name'], order_by: [{ column: 'id' }], limit: 1 },
        box.options,
      ),
    );
    expect(order.message).toContain(
      'order_by[0].column: expected one of the columns "name", "count"; got "id"',
    );
  });

  it('that make no sense are refused', async () => {
    const sum = await refusal(
      runQuery({ path: 'people.csv', aggregates: [{ fn: 'sum', column: 'name' }], limit: 1 }, box.options),
    );
    expect(sum).toEqual({
      code: 'bad_aggregate',
      message: 'aggregates[0].column: sum expects a numeric column; "name" is VARCHAR',
    });
    const twins = [
      { fn: 'count' as const, as: 'N' },
      { fn: 'count' as const, as: 'n' },
    ];
    expect(
      (await refusal(runQuery({ path: 'people.csv', aggregates: twins, limit: 1 }, box.options))).code,
    ).toBe('bad_aggregate');
  });

  it('may be called like columns of the file without standing in for them', async () => {
    const result = await runQuery(
      {
        path: 'people.csv',
        filters: [{ column: 'score', op: 'gt', value: 1 }],
        aggregates: [{ fn: 'sum', column: 'score', as: 'id' }],
        limit: 1,
      },
      box.options,
    );
    expect(result.rows).toEqual([[4]]);
  });

  it('keep every digit: integers beyond 2^53 and long decimals come as strings', async () => {
    const file = `${box.data}/exact.parquet`;
    await plainSql(
      `COPY (SELECT 9223372036854775807::BIGINT AS big, 12.50::DECIMAL(10,2) AS price,
                    12345678901234567890.123456789::DECIMAL(38,9) AS long, 'nan'::DOUBLE AS nan,
                    TIMESTAMPTZ '2001-01-01 02:00:00+02' AS moment, DATE '2001-01-01' AS day
             FROM range(2)) TO '${file}'`,
    );
    const rows = await runQuery({ path: file, limit: 1 }, box.options);
    expect(rows.rows).toEqual([
      [
        '9223372036854775807',
        12.5,
        '12345678901234567890.123456789',
        null,
        '2001-01-01T00:00:00Z',
        '2001-01-01',
      ],
    ]);
    const sum = await runQuery(
      { path: file, aggregates: [{ fn: 'sum', column: 'big' }], limit: 1 },
      box.options,
    );
    expect(sum.rows).toEqual([['18446744073709551614']]);
  });
});

/** Types and values: one reading for all calls, NaN and missing values, guesses and the notes on them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, profileColumns, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { Reading } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery, Filter } from '../../tools/analyze_dataset.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
let files = 0;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

const query = (path: string, rest: Partial<DatasetQuery> = {}) =>
  runQuery({ path, limit: 100, ...rest }, box.options);
const rowsOf = async (path: string, ...filters: Filter[]) => (await query(path, { filters })).rows;
/** Types and notes of a CSV file with one column `x` of these fields. */
async function column(fields: string[], name = `file${(files += 1)}.csv`) {
  await box.file(name, `x\n${fields.map((field) => `${field}\n`).join('')}`);
  const { columns, notes } = await inspect(name, box.options);
  return { type: columns[0]!.type, notes, rows: (await query(name)).rows.map(([value]) => value) };
}
const lines = (values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe('JSON columns of several types', () => {
  it('are text without quotes, with a note', async () => {
    await box.file(
      'mixed.jsonl',
      lines([{ k: 'A1' }, { k: 7 }, { k: true }, { k: null }, { k: { a: [1] } }]),
    );
    expect(await rowsOf('mixed.jsonl', { column: 'k', op: 'eq', value: 'A1' })).toEqual([['A1']]);
    const groups = await query('mixed.jsonl', { group_by: ['k'] });
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
    await box.file('keys.jsonl', lines(rows));
    const { columns, notes } = await inspect('keys.jsonl', box.options);
    expect([columns.map(({ name }) => name), notes]).toEqual([names, []]);
  });

  it('are missing values where a file has no others', async () => {
    await box.file('none.jsonl', lines([{ a: null }, {}]));
    expect((await query('none.jsonl', {})).rows).toEqual([[null], [null]]);
    await box.file('numbers.json', '[1, 2]');
    expect((await query('numbers.json', {})).rows).toEqual([[1], [2]]);
  });

  it('are found however late another type or key comes', async () => {
    const numbers = Array.from({ length: 30_000 }, (_, index) => ({
      k: index % 2 ? index : null,
      none: null,
    }));
    await box.file('late-key.jsonl', lines([...numbers, { k: 1, none: 'B2', late: 'here' }]));
    expect(await rowsOf('late-key.jsonl', { column: 'none', op: 'eq', value: 'B2' })).toEqual([
      [1, 'B2', 'here'],
    ]);
    await box.file('late-text.jsonl', lines([...numbers, { k: 'A1' }]));
    const { notes, rows } = await query('late-text.jsonl', {
      filters: [{ column: 'k', op: 'eq', value: 'A1' }],
    });
    expect(rows[0]![0]).toBe('A1');
    expect(notes).toEqual([
      'Column "k" is read as text: it mixes strings, numbers or booleans, so "1" and 1 are the same.',
    ]);
  });

  it('keep lists and objects as JSON, without a note', async () => {
    await box.file('nested.jsonl', lines([{ k: { a: 1, A: 2 } }, { k: [1, 'b'] }]));
    const { rows, notes } = await query('nested.jsonl');
    expect(rows).toEqual([['{"a":1,"A":2}'], ['[1,"b"]']]);
    expect(notes).toEqual([]);
  });
});

describe('NaN', () => {
  it.each(['parquet', 'csv'])(
    'is missing in %s: in filters, aggregates, order and profile',
    async (format) => {
      const file = `${box.data}/nan.${format}`;
      await plainSql(
        `COPY (SELECT * FROM (VALUES (1, 1.5::DOUBLE), (2, 'nan'::DOUBLE), (3, -2.5::DOUBLE), (4, NULL)) AS t(id, x)) TO '${file}'`,
      );
      const aggregates = (['count', 'max', 'min', 'avg', 'sum', 'median'] as const).map((fn) => ({
        fn,
        column: 'x',
      }));
      const { rows, notes } = await query(file, { aggregates });
      expect(rows).toEqual([[2, 1.5, -2.5, -0.5, -1, -0.5]]);
      expect(notes).toEqual(['Column "x": 1 NaN value counts as missing.']);
      expect(await rowsOf(file, { column: 'x', op: 'gt', value: 0 })).toEqual([[1, 1.5]]);
      expect(await rowsOf(file, { column: 'x', op: 'is_null' })).toEqual([
        [2, null],
        [4, null],
      ]);
      const ordered = await query(file, { order_by: [{ column: 'x', direction: 'desc' }] });
      expect(ordered.rows.map(([id]) => id).slice(0, 2)).toEqual([1, 3]);
      const [profile] = await profileColumns(file, ['x'], box.options);
      expect(profile).toMatchObject({ null_count: 2, max: 1.5, mean: -0.5 });
    },
  );

  it('is the only value that is: infinite ones count, and are noted', async () => {
    const { type, notes, rows } = await column(['1.5', 'inf', '-Infinity']);
    expect({ type, rows }).toEqual({ type: 'DOUBLE', rows: [1.5, 'Infinity', '-Infinity'] });
    expect(notes).toEqual([
      'Column "x": 2 values are infinite, so sums and averages over them are infinite or missing.',
    ]);
    const aggregates = (['sum', 'avg', 'stddev', 'max'] as const).map((fn) => ({ fn, column: 'x' }));
    expect((await query(`file${files}.csv`, { aggregates })).rows).toEqual([[null, null, null, 'Infinity']]);
  });
});

it('the median of decimals may lie between two of them', async () => {
  const file = `${box.data}/decimals.parquet`;
  await plainSql(`COPY (SELECT unnest([4.64, 4.65])::DECIMAL(18, 2) AS x) TO '${file}'`);
  expect((await query(file, { aggregates: [{ fn: 'median', column: 'x' }] })).rows).toEqual([[4.645]]);
});

describe('texts of CSV', () => {
  it.each<[string, string[], string, unknown[], string[]]>([
    ['integers', ['1', '-20', '+3'], 'BIGINT', [1, -20, 3], []],
    [
      'leading zeros',
      ['12345', '01234'],
      'VARCHAR',
      ['12345', '01234'],
      ['Column "x" is read as text: some of its numbers begin with 0 or +, such as "01234".'],
    ],
    [
      'telephone numbers',
      ['+4930123456', '+441234567'],
      'VARCHAR',
      ['+4930123456', '+441234567'],
      ['Column "x" is read as text: some of its numbers begin with 0 or +, such as "+441234567".'],
    ],
    ['integers beyond 64 bits', ['9223372036854775808', '1'], 'HUGEINT', ['9223372036854775808', 1], []],
    [
      'integers beyond 38 digits',
      ['1'.repeat(39), '1'],
      'VARCHAR',
      ['1'.repeat(39), '1'],
      ['Column "x" is read as text: some of its numbers have more than 38 digits.'],
    ],
    [
      'digits that are lost',
      ['9007199254740993', '1.5'],
      'DOUBLE',
      [9007199254740992, 1.5],
      [
        'Column "x": numbers of many digits such as "9007199254740993" are read as floating point, which keeps about 16 digits.',
      ],
    ],
    [
      'exponents',
      ['1e5', '2e3'],
      'DOUBLE',
      [100000, 2000],
      ['Column "x": values such as "1e5" are read as numbers with an exponent; they could be identifiers.'],
    ],
    [
      'points that may be thousands',
      ['1.234', '12.500'],
      'DOUBLE',
      [1.234, 12.5],
      [
        'Column "x": the point in values such as "1.234" is read as a decimal point; it could stand between thousands.',
      ],
    ],
    ['fractions', ['0.123', '1.25', '3'], 'DOUBLE', [0.123, 1.25, 3], []],
    [
      'commas of both kinds',
      ['"1,234"', '"5,678"'],
      'VARCHAR',
      ['1,234', '5,678'],
      [
        'Column "x" is read as text: the comma in values such as "1,234" could be a decimal comma or stand between thousands.',
      ],
    ],
    [
      'decimal commas',
      ['"1,5"', '"1.234,25"'],
      'DOUBLE',
      [1.5, 1234.25],
      ['Column "x": values such as "1,5" are read as numbers with a decimal comma.'],
    ],
    [
      'commas between thousands',
      ['"1,234,567"', '"1,234.5"'],
      'DOUBLE',
      [1234567, 1234.5],
      ['Column "x": values such as "1,234,567" are read as numbers with commas between thousands.'],
    ],
    ['t and f', ['t', 'f'], 'VARCHAR', ['t', 'f'], []],
    ['yes and no', ['yes', 'no'], 'VARCHAR', ['yes', 'no'], []],
    ['true and false', ['true', 'False'], 'BOOLEAN', [true, false], []],
    [
      'words for missing numbers',
      ['1', 'NA', '3', '-'],
      'BIGINT',
      [1, null, 3, null],
      ['Column "x": 2 values such as "-" count as missing.'],
    ],
    [
      'words for missing values among text',
      ['north', 'NA'],
      'VARCHAR',
      ['north', 'NA'],
      ['Column "x": 1 value such as "NA" is text and not missing.'],
    ],
    ['NaN with a sign', ['1', '-nan'], 'BIGINT', [1, null], ['Column "x": 1 NaN value counts as missing.']],
    ['spaces around numbers', [' 1', '2 '], 'BIGINT', [1, 2], []],
    [
      'spaces around text',
      [' a', 'a'],
      'VARCHAR',
      [' a', 'a'],
      ['Column "x": 1 value begins or ends with spaces, which count.'],
    ],
    [
      'empty text',
      ['a', '""'],
      'VARCHAR',
      ['a', ''],
      ['Column "x": 1 empty value in quotes is empty text and not missing.'],
    ],
    ['empty quotes among numbers', ['1', '""'], 'BIGINT', [1, null], []],
  ])('%s', async (_, fields, type, rows, notes) => {
    expect(await column(fields)).toEqual({ type, rows, notes });
  });

  it('keep their type when a later value has a leading zero', async () => {
    const fields = Array.from({ length: 25_000 }, (_, index) => String(index + 1));
    const { type, notes } = await column([...fields, '01234'], 'late-zero.csv');
    expect(type).toBe('VARCHAR');
    expect(notes[0]).toContain('such as "01234"');
    expect(await rowsOf('late-zero.csv', { column: 'x', op: 'eq', value: '01234' })).toEqual([['01234']]);
  });

  it('with words for missing values only after the first rows stay numbers', async () => {
    const fields = Array.from({ length: 25_000 }, (_, index) => String(index));
    const { type, notes } = await column([...fields, 'n/a'], 'late-missing.csv');
    expect({ type, notes }).toEqual({
      type: 'BIGINT',
      notes: ['Column "x": 1 value such as "n/a" counts as missing.'],
    });
  });
});

describe('dates', () => {
  it.each<[string, string[], string, unknown[], string[]]>([
    [
      'day or month first',
      ['01/02/2024', '03/04/2024'],
      'DATE',
      ['2024-02-01', '2024-04-03'],
      [
        'Column "x": dates such as "01/02/2024" are read as day/month/year; all of them could also be month/day/year.',
      ],
    ],
    [
      'day first, by one day beyond 12',
      ['01/02/2024', '13/02/2024'],
      'DATE',
      ['2024-02-01', '2024-02-13'],
      [],
    ],
    [
      'month first, by one day beyond 12',
      ['01/02/2024', '02/13/2024'],
      'DATE',
      ['2024-01-02', '2024-02-13'],
      [],
    ],
    [
      'both',
      ['13/02/2024', '02/13/2024'],
      'VARCHAR',
      ['13/02/2024', '02/13/2024'],
      [
        'Column "x" is read as text: some of its dates can only be day/month/year, others only month/day/year.',
      ],
    ],
    ['with points', ['31.01.2024', '1.2.2024'], 'DATE', ['2024-01-31', '2024-02-01'], []],
    [
      'with years of two digits',
      ['31/01/24', '01/02/70'],
      'DATE',
      ['2024-01-31', '1970-02-01'],
      [
        'Column "x": dates such as "01/02/70" are read as day/month/year; years of two digits are read as 1969 to 2068.',
      ],
    ],
    [
      'with times',
      ['31/01/2024 09:05', '01/02/2024 14:00:01'],
      'TIMESTAMP',
      ['2024-01-31T09:05:00', '2024-02-01T14:00:01'],
      [],
    ],
    ['of ISO 8601', ['2024-01-31', '2024-02-01'], 'DATE', ['2024-01-31', '2024-02-01'], []],
    [
      'that do not exist',
      ['2024-02-30', '2024-02-01', '2024-02-02'],
      'VARCHAR',
      ['2024-02-30', '2024-02-01', '2024-02-02'],
      ['Column "x" is read as text: 1 of its 3 values are no dates or times, such as "2024-02-30".'],
    ],
    [
      'with nanoseconds',
      ['2024-01-01T00:00:00.123456789'],
      'TIMESTAMP_NS',
      ['2024-01-01T00:00:00.123456789'],
      [],
    ],
    [
      'with zones and without',
      ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00'],
      'VARCHAR',
      ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00'],
      ['Column "x" is read as text: some of its times have a time zone and others none.'],
    ],
  ])('%s', async (_, fields, type, rows, notes) => {
    expect(await column(fields)).toEqual({ type, rows, notes });
  });
});

describe('time zones', () => {
  it('are the same in CSV and JSON: rows, groups and filters', async () => {
    const rows = [
      { zoned: '2024-01-01T12:00:00+02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
      { zoned: '2024-01-01T08:00:00-02:00', utc: '2024-01-01T10:00:00Z', local: '2024-01-01T12:00:00' },
    ];
    await box.file('zones.jsonl', lines(rows));
    await box.file(
      'zones.csv',
      ['zoned,utc,local', ...rows.map((row) => Object.values(row).join(','))].join('\n'),
    );
    for (const path of ['zones.jsonl', 'zones.csv']) {
      const { columns, rows: groups, notes } = await query(path, { group_by: ['zoned', 'utc', 'local'] });
      expect(columns.slice(0, 3).map(({ type }) => type)).toEqual([
        'TIMESTAMP WITH TIME ZONE',
        'TIMESTAMP WITH TIME ZONE',
        'TIMESTAMP',
      ]);
      expect(groups).toEqual([['2024-01-01T10:00:00Z', '2024-01-01T10:00:00Z', '2024-01-01T12:00:00', 2]]);
      expect(notes).toEqual([]);
      expect(
        await rowsOf(path, { column: 'zoned', op: 'eq', value: '2024-01-01T11:00:00+01:00' }),
      ).toHaveLength(2);
      const refused = await refusal(
        rowsOf(path, { column: 'local', op: 'eq', value: '2024-01-01T12:00:00+02:00' }),
      );
      expect(refused.message).toContain('a date or time without a time zone, since the column has none');
    }
  });
});

describe('names that differ by case only', () => {
  it('are two columns in JSON, of which a note has both names', async () => {
    await box.file('twins.jsonl', lines([{ a: 1, A: 'x' }, { a: 2 }, { A: 'y' }]));
    const { columns, rows, notes } = await query('twins.jsonl');
    expect(columns.map(({ name }) => name)).toEqual(['a', 'A_1']);
    expect(rows).toEqual([
      [1, 'x'],
      [2, null],
      [null, 'y'],
    ]);
    expect(notes).toEqual(['Columns "a" and "A" differ by case only: "A" is called "A_1".']);
    expect(await rowsOf('twins.jsonl', { column: 'A_1', op: 'eq', value: 'y' })).toEqual([[null, 'y']]);
    await box.file('numbered.jsonl', lines([{ a: 1, a_1: 2 }]));
    expect((await query('numbered.jsonl')).notes).toEqual([]);
    await box.file('both.jsonl', lines([{ a: 1, A: 2, A_1: 3 }]));
    expect((await query('both.jsonl')).columns).toHaveLength(3);
    expect((await query('both.jsonl')).rows[0]!.map(Number).sort()).toEqual([1, 2, 3]);
  });
});

describe('a reading', () => {
  it('that was recorded before types came from all values is learned again', async () => {
    await box.file('old.csv', 'zip,x\n01234,1\n00001,2\n');
    const reading: Reading = { textColumns: ['x'], wholeFileTypes: false };
    const { rows } = await runQuery({ path: 'old.csv', limit: 5 }, { ...box.options, reading });
    expect(rows).toEqual([
      ['01234', 1],
      ['00001', 2],
    ]);
  });

  it('is the same in every call, and survives a trip through JSON', async () => {
    await box.file('trip.csv', 'd,n\n01/02/2024,NA\n02/03/2024,1\n');
    const { reading, columns } = await inspect('trip.csv', box.options);
    const again = JSON.parse(JSON.stringify(reading)) as Reading;
    const result = await runQuery({ path: 'trip.csv', limit: 5 }, { ...box.options, reading: again });
    expect(result.columns).toEqual(columns);
    expect(result.rows).toEqual([
      ['2024-02-01', null],
      ['2024-03-02', 1],
    ]);
  });
});

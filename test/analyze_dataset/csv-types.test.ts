/** Types of CSV columns: numbers, booleans, missing values and dates, with the notes on guesses. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ValueSandbox } from './values-support.js';

let values: ValueSandbox;
beforeAll(async () => {
  values = await ValueSandbox.make();
});
afterAll(() => values.box.remove());

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
    expect(await values.column(fields)).toEqual({ type, rows, notes });
  });

  it('keep their type when a later value has a leading zero', async () => {
    const fields = Array.from({ length: 25_000 }, (_, index) => String(index + 1));
    const { type, notes } = await values.column([...fields, '01234'], 'late-zero.csv');
    expect(type).toBe('VARCHAR');
    expect(notes[0]).toContain('such as "01234"');
    expect(await values.rowsOf('late-zero.csv', { column: 'x', op: 'eq', value: '01234' })).toEqual([
      ['01234'],
    ]);
  });

  it('with words for missing values only after the first rows stay numbers', async () => {
    const fields = Array.from({ length: 25_000 }, (_, index) => String(index));
    const { type, notes } = await values.column([...fields, 'n/a'], 'late-missing.csv');
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
    expect(await values.column(fields)).toEqual({ type, rows, notes });
  });
});

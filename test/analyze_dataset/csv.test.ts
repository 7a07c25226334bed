/** Every line of a CSV file is a row, the header, or named in a note or an error; every value is exact, or text. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  inspect,
  profileColumns,
  runQuery,
  writeParquet,
} from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { plainSql, refusal, ValueSandbox } from './support.js';

let values: ValueSandbox;
beforeAll(async () => {
  values = await ValueSandbox.make();
});
afterAll(() => values.box.remove());

type Given = Partial<DatasetQuery>;

const THOUSAND = `a,b,c\n${Array.from({ length: 1000 }, (_, row) => `${row},x${row},${2 * row}`).join('\n')}\n`;

describe('a file that needs no argument', () => {
  const AB = { names: ['a', 'b'], rows: [[1, 2], [3, 4]], notes: [] }; // prettier-ignore
  it.each([
    ['LF', 'a,b\n1,2\n3,4\n', AB],
    ['CRLF', 'a,b\r\n1,2\r\n3,4\r\n', AB],
    ['CR', 'a,b\r1,2\r3,4\r', AB],
    ['no line end at the end', 'a,b\n1,2\n3,4', AB],
    ['a byte order mark', '\ufeffa,b\n1,2\n3,4\n', AB],
    ['a byte order mark and a quoted header', '\ufeff"a",b\n1,2\n3,4\n', AB],
    ['semicolons', 'a;b\n1;2\n3;4\n', AB],
    ['tabs', 'a\tb\n1\t2\n3\t4\n', AB],
    ['bars', 'a|b\n1|2\n3|4\n', AB],
    ['spaces around fields', 'a, b\n1, 2\n3, 4\n', AB],
    ['blank lines', '\na,b\n\n1,2\n3,4\n\n\n', AB],
    ['blank lines that end in CRLF', '\r\na,b\r\n\r\n1,2\r\n3,4\r\n', AB],
    ['separators at the end of each row', 'a,b\n1,2,\n3,4,\n', AB],
    ['everything quoted', '"a","b"\n"1","2"\n"3","4"\n', AB],
    ["Excel's line for the separator", 'sep=;\na;b\n1;2\n3;4\n', AB],
    ["Excel's line, that ends in CRLF", 'sep=|\r\na|b\r\n1|2\r\n3|4\r\n', AB],
    ['one column', 'a\n1\n\n2\n', { names: ['a'], rows: [[1], [null], [2]], notes: [] }],
    ['a header alone', 'a,b\n', { names: ['a', 'b'], rows: [], notes: [] }],
    ['empty fields', 'a,b\n,""\n1,x\n', { names: ['a', 'b'], rows: [[null, null], [1, 'x']], notes: [] }],
    ['quoted separators, quotes and line ends', 'a,b\n1,"x, ""y""\n\nz"\n', { names: ['a', 'b'], rows: [[1, 'x, "y"\n\nz']], notes: [] }],
    ['a quote within a field', 'a,b\n1,5" pipe\n', { names: ['a', 'b'], rows: [[1, '5" pipe']], notes: [] }],
    ['other line ends within quotes', 'a,b\r\n1,"x\ny"\r\n', { names: ['a', 'b'], rows: [[1, 'x\ny']], notes: [] }],
    ['text alone', 'name,city\nAnn,Rome\n', { names: ['name', 'city'], rows: [['Ann', 'Rome']], notes: [] }],
    ['numbers in the header', 'id,1990\n1,x\n2,y\n', { names: ['id', '1990'], rows: [[1, 'x'], [2, 'y']], notes: [] }],
    ['a line that begins with #', 'a,b\n#1,2\n', { names: ['a', 'b'], rows: [['#1', 2]], notes: [] }],
  ])('may have %s', async (_, text, expected) => {
    expect(await values.read('file.csv', text)).toMatchObject(expected);
  }); // prettier-ignore

  it('has a note of what was assumed', async () => {
    expect((await values.read('file.csv', 'a;b\n1;2\n')).assumed).toBe(
      'CSV is read with ";" between fields, names in line 1. Empty fields are missing, quoted or not.',
    );
  });
});

describe('an argument', () => {
  it.each<[string, string, Given, string[], unknown[][]]>([
    ['header names a row of numbers', '1990,1991\n1,2\n', { header: 1 }, ['1990', '1991'], [[1, 2]]],
    ['header: 0 makes the first line a row', 'x,y\nz,w\n', { header: 0 }, ['column0', 'column1'], [['x', 'y'], ['z', 'w']]],
    ['header leaves out a title', 'Sales\n\na,b\n1,2\n', { header: 3 }, ['a', 'b'], [[1, 2]]],
    ['header leaves out a title, after CRLF', 'Pipes of 5"\r\n\r\na,b\r\n1,2\r\n', { header: 3 }, ['a', 'b'], [[1, 2]]],
    ['delimiter takes any character', 'a~b\n1~2,3\n', { delimiter: '~' }, ['a', 'b'], [[1, '2,3']]],
    ['delimiter makes a file one column', 'text\nhello, world\na, b, c\n', { delimiter: '|' }, ['text'], [['hello, world'], ['a, b, c']]],
    ['null_values are missing', 'a,b\nNA,-\n1,NA\n', { null_values: ['NA', '-'] }, ['a', 'b'], [[null, null], [1, null]]],
    ['types keep leading zeros away', 'a,b\n01234,1\n', { types: { a: 'BIGINT', b: 'VARCHAR' } }, ['a', 'b'], [[1234, '1']]],
    ['types keep the digits of decimals', 'a\n12345678901234567.25\n', { types: { a: 'DECIMAL(38,2)' } }, ['a'], [['12345678901234567.25']]],
    ['date_format reads days first', 'a,b\n01/02/2024,2024-05-06\n', { date_format: '%d/%m/%Y' }, ['a', 'b'], [['2024-02-01', '2024-05-06']]],
    ['date_format reads times with zones', 'a\n31.1.2024 10:00 +0200\n', { date_format: '%d.%m.%Y %H:%M %z' }, ['a'], [['2024-01-31T08:00:00Z']]],
  ])('%s', async (_, text, given, names, rows) => {
    expect(await values.read('file.csv', text, given)).toMatchObject({ names, rows, notes: [] });
  }); // prettier-ignore

  it.each<[string, string, Given, string]>([
    ['types that would change a value', 'a\n1.5\n', { types: { a: 'BIGINT' } }, 'types: column "a" can\'t be read exactly: BIGINT would change "1.5"'],
    ['types of no number', 'a\nx\n', { types: { a: 'DOUBLE' } }, 'DOUBLE would change "x"'],
    ['types that would round', 'a\n1.255\n', { types: { a: 'DECIMAL(10,2)' } }, 'DECIMAL(10,2) would change "1.255"'],
    ['types of a column that is not there', 'a\n1\n', { types: { b: 'DOUBLE' } }, 'types: expected one of the columns "a"; got "b"'],
    ['a date_format that no column has', 'a\n2024-01-31\n', { date_format: '%d/%m/%Y' }, 'date_format: expected the format of all values of a column'],
    ['an unknown date_format', 'a\nx\n', { date_format: '%Q' }, '%Q'],
    ['unknown types', 'a\n1\n', { types: { a: "INTEGER); DROP TABLE x; --" } }, 'types: expected VARCHAR, BIGINT, DOUBLE or DECIMAL(18,2)'],
    ['a delimiter of two characters', 'a\n1\n', { delimiter: ', ' }, 'delimiter: expected one ASCII character; got ", "'],
    ['an unknown encoding', 'a\n1\n', { encoding: 'ebcdic' }, 'encoding: expected a name of the WHATWG Encoding Standard'],
  ])('is refused: %s', async (_, text, given, said) => {
    expect(await values.refused('file.csv', text, given)).toContain(said);
  }); // prettier-ignore

  it('for CSV is refused for other formats', async () => {
    expect(await values.refused('file.jsonl', '{"a":1}\n', { delimiter: ';' })).toBe(
      'unreadable: delimiter: has no meaning for json, which file.jsonl is',
    );
    const parquet = `${values.box.data}/file.parquet`;
    await plainSql(`COPY (SELECT 1 AS a) TO '${parquet}'`);
    const given = { types: { a: 'VARCHAR' } };
    const { message } = await refusal(inspect(parquet, { ...values.box.options, given }));
    expect(message).toContain('types: has no meaning for parquet');
  });
});

describe('a file that can not be read exactly is refused, with the way out', () => {
  it.each([
    ['a title', 'Sales 2026\n\na,b\n1,2\n3,4\n', 'set header: 3'],
    ['a title, and lines that end in CRLF', 'Sales\r\n\r\na,b\r\n1,2\r\n3,4\r\n', 'set header: 3'],
    ['text with commas', 'text\nhello, world\nfoo\na, b, c\n', 'has lines of different numbers of fields'],
    ['comments', '# by x, on y, at z\n#\na,b\n1,2\n3,4\n', 'CSV Error on Line: 2'],
    ['a quote that never closes', 'a,b\n1,x\n2,"y\n3,z\n', 'has a quote in line 3 that never closes'],
    ['such a quote in the last field', 'a,b\n1,x\n2,y\n3,"z\n', 'has a quote in line 4 that never closes'],
    ['text after a closing quote', 'a,b\n1,"x" y\n3,4\n', 'CSV Error on Line: 2'],
    ['escapes by a backslash', 'a,b\n1,"x \\"y\\""\n2,"z"\n', 'line'],
    ['several kinds of line ends', 'a,b\n1,2\r\n3,4\r5,6', "can't be read"],
    ['another line end within the header', '"a\nb",c\r\n1,2\r\n', "can't be read"],
    ['UTF-16 without a mark', Buffer.from('a,b\n1,2\n', 'utf16le'), 'set encoding: "utf-16le"'],
    ['Windows-1252', Buffer.from('a,b\nx,1\ncaf\xe9,2\n', 'latin1'), 'set encoding, such as "windows-1252" (Invalid Input Error: CSV Error on Line: 3'],
  ])('%s', async (_, text, said) => {
    const message = await values.refused('file.csv', text);
    expect(message).toMatch(/^unreadable: path: file\.csv /);
    expect(message).toContain(said);
  }); // prettier-ignore
});

describe('a line that does not fit the header', () => {
  it.each([
    ['one field too many at the end', `${THOUSAND}6,7,8,9\n`, 1002, '6,7,8,9', 1000],
    ['one field too few at the end', `${THOUSAND}6,7\n`, 1002, '6,7', 1000],
    ['a total below the table', `${THOUSAND}Total,7\n`, 1002, 'Total,7', 1000],
    ['a field too many in the middle', `${THOUSAND}6,7,8,9\n1,2,3\n`, 1002, '6,7,8,9', 1001],
    ['one row in a small file', 'a,b,c\n1,2,3\n6,7,8,9\n', 3, '6,7,8,9', 1],
    ['a comma without quotes', 'id,text\n1,hi\n2,hello, world\n3,x\n', 3, '2,hello, world', 2],
    ['spaces alone', 'a,b\n1,2\n   \n3,4\n', 3, '   ', 2],
    ['below blank lines', 'a,b\n\n\n1,2\n\n2,3,4\n', 6, '2,3,4', 1],
  ])('%s is named, or left out and named', async (_, text, line, shown, kept) => {
    const message = await values.refused('file.csv', text);
    expect(message).toContain(`CSV Error on Line: ${line}; Original Line:`);
    expect(message).toContain(shown.trim());
    expect(message).toContain('on_bad_rows: "skip"');
    const { rowCount, notes } = await values.read('file.csv', text, { on_bad_rows: 'skip' });
    expect(notes.join()).toContain(`line ${line} of file.csv (Expected Number of Columns`);
    expect(notes.join()).toContain(JSON.stringify(shown));
    expect(rowCount).toBe(kept);
  });

  it('is skipped by every step alike, and takes no column its type', async () => {
    await values.box.file('total.csv', `${THOUSAND}Total,7\n`);
    const given = { on_bad_rows: 'skip' as const };
    const { reading, columns, profileBatches, rowCount } = await inspect('total.csv', {
      ...values.box.options,
      given,
    });
    expect(columns.map(({ type }) => type)).toEqual(['BIGINT', 'VARCHAR', 'BIGINT']);
    expect(rowCount).toBe(1000);
    const options = { ...values.box.options, reading };
    const [a] = await profileColumns('total.csv', profileBatches[0]!, options);
    expect(a).toMatchObject({ row_count: 1000, null_count: 0, max: 999 });
    const query = { path: 'total.csv', limit: 1 };
    const sum = { aggregates: [{ fn: 'sum' as const, column: 'c' }] };
    expect((await runQuery({ ...query, ...sum }, options)).rows).toEqual([[999_000]]);
    const { file, rowCount: written } = await writeParquet(query, options);
    expect(written).toBe(1000);
    expect(await plainSql(`SELECT count(*), sum(a) FROM '${file}'`)).toEqual([[1000, 499_500]]);
  });

  it('is one of many: ten are shown, all are counted', async () => {
    const text = `a,b\n${'1,2\n'.repeat(100)}${'1,2,3\n'.repeat(25)}`;
    const { rowCount, notes } = await values.read('file.csv', text, { on_bad_rows: 'skip' });
    expect(rowCount).toBe(100);
    expect(notes[0]).toContain('line 102 of file.csv');
    expect(notes[0]).toMatch(/, and 15 more\.$/);
  });

  it('may not be skipped for its encoding', async () => {
    const text = Buffer.from('a,b\nx,1\ncaf\xe9,2\n', 'latin1');
    const message = await values.refused('file.csv', text, { on_bad_rows: 'skip' });
    expect(message).toContain('encoding');
  });

  it('that is longer than 16 MB is named; a value of 15 MB is read', async () => {
    const { rows } = await values.read('file.csv', `a,b\n1,${'x'.repeat(15_000_000)}\n2,3\n`);
    expect(rows.map(([a]) => a)).toEqual([1, 2]);
    const message = await values.refused('file.csv', `a,b\n1,${'x'.repeat(17_000_000)}\n2,3\n`);
    expect(message).toMatch(/aximum line size/);
  });
});

describe('values', () => {
  const column = async (fields: string[], given?: Given) => {
    const { types, rows, notes } = await values.read('x.csv', `x\n${fields.join('\n')}\n`, given);
    return { type: types[0], rows: rows.map(([value]) => value), notes };
  };
  const changed = (type: string, value: string) => [
    `Column "x" is text: ${type} would change ${JSON.stringify(value)}. types, null_values or date_format read it otherwise.`,
  ];
  const DATES = [
    'Column "x" is text: its dates are not ISO 8601. date_format reads them, such as date_format: "%d/%m/%Y".',
  ];

  it.each<[string, string[], string, unknown[], string[]]>([
    ['integers', ['1', '-20'], 'BIGINT', [1, -20], []],
    ['leading zeros', ['12345', '01234'], 'VARCHAR', ['12345', '01234'], changed('BIGINT', '01234')],
    ['telephone numbers', ['+4930123456', '+441234567'], 'VARCHAR', ['+4930123456', '+441234567'], []],
    ['integers beyond 64 bits', ['9223372036854775808', '1'], 'DECIMAL(38,0)', ['9223372036854775808', 1], []],
    ['integers beyond 38 digits', ['1'.repeat(39), '1'], 'VARCHAR', ['1'.repeat(39), '1'], changed('BIGINT', '1'.repeat(39))],
    ['an integer beyond 2^53 beside a fraction', ['9007199254740993', '1.5'], 'VARCHAR', ['9007199254740993', '1.5'], changed('BIGINT', '1.5')],
    ['decimals of 76 digits', [`0.${'1'.repeat(76)}`], 'VARCHAR', [`0.${'1'.repeat(76)}`], []],
    ['exponents that may be codes', ['1e5', '2e3'], 'VARCHAR', ['1e5', '2e3'], []],
    ['fractions', ['0.123', '1.250', '3', '1.5e-05'], 'DOUBLE', [0.123, 1.25, 3, 0.000015], []],
    ['commas in numbers', ['"1,5"', '"1,234"'], 'VARCHAR', ['1,5', '1,234'], []],
    ['t and f', ['t', 'f'], 'VARCHAR', ['t', 'f'], []],
    ['yes and no', ['yes', 'no'], 'VARCHAR', ['yes', 'no'], []],
    ['true and false', ['true', 'False'], 'BOOLEAN', [true, false], []],
    ['words for missing numbers', ['1', 'NA', '3'], 'VARCHAR', ['1', 'NA', '3'], changed('BIGINT', 'NA')],
    ['NaN', ['1', 'nan', '-nan'], 'DOUBLE', [1, null, null], ['Column "x": 2 NaN are missing.']],
    ['spaces around numbers', [' 1', '2 '], 'BIGINT', [1, 2], []],
    ['spaces around text', [' a', 'a'], 'VARCHAR', [' a', 'a'], []],
    ['ISO dates', ['2024-01-31', '2024-02-01'], 'DATE', ['2024-01-31', '2024-02-01'], []],
    ['days that do not exist', ['2024-02-30', '2024-02-01'], 'VARCHAR', ['2024-02-30', '2024-02-01'], changed('DATE', '2024-02-30')],
    ['dates, day or month first', ['01/02/2024', '03/04/2024'], 'VARCHAR', ['01/02/2024', '03/04/2024'], DATES],
    ['dates with years of two digits', ['31/01/24', '01/02/70'], 'VARCHAR', ['31/01/24', '01/02/70'], DATES],
    ['nanoseconds', ['2024-01-01T00:00:00.123456789'], 'TIMESTAMP_NS', ['2024-01-01T00:00:00.123456789'], []],
    ['nanoseconds with a zone', ['2024-01-01T00:00:00.123456789Z'], 'VARCHAR', ['2024-01-01T00:00:00.123456789Z'], []],
    ['offsets', ['2024-01-01T12:00:00+02:00'], 'TIMESTAMP WITH TIME ZONE', ['2024-01-01T10:00:00Z'], []],
    ['times with zones and without', ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00'], 'VARCHAR', ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00'], changed('TIMESTAMP', '2024-01-01T00:00:00Z')],
  ])('of %s', async (_, fields, type, rows, notes) => {
    expect(await column(fields)).toEqual({ type, rows, notes });
  }); // prettier-ignore

  it('that come late count too', async () => {
    const numbers = Array.from({ length: 25_000 }, (_, index) => String(index + 1));
    const { type, notes } = await column([...numbers, '01234']);
    expect({ type, notes }).toEqual({ type: 'VARCHAR', notes: changed('BIGINT', '01234') });
    expect((await column([...numbers, '0.5'])).type).toBe('DOUBLE');
    expect(await values.rowsOf('x.csv', { column: 'x', op: 'eq', value: 0.5 })).toEqual([[0.5]]);
  });
});

it('a quoted value that holds a table is one value', async () => {
  const table = Array.from({ length: 300 }, (_, line) => `e${line},some text here,99\n`).join('');
  const text = `id,t,x\n${Array.from({ length: 7000 }, (_, row) => `${row},"${table}",5\n`).join('')}`;
  const { rowCount, notes } = await values.read('embedded.csv', text);
  expect([rowCount, notes]).toEqual([7000, []]);
  const sum = await values.query('embedded.csv', { aggregates: [{ fn: 'sum', column: 'id' }] });
  expect(sum.rows).toEqual([[(7000 * 6999) / 2]]);
});

describe('whatever a file holds', () => {
  // Numbers that repeat: a linear congruential generator.
  let state = Number(process.env['LONGHAUL_CSV_SEED'] ?? 1);
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

  it('rows come as they were written, and lines that do not fit are named', async () => {
    for (let round = 0; round < 60; round += 1) {
      const newline = pick(['\n', '\r\n', '\r']);
      const [delimiter, width] = [pick([',', ';', '\t', '|']), pick([2, 3, 5])];
      const atoms = ['x', '12', 'hello world', 'é', '"', '""', delimiter, newline, "it's", '5" w', '\\', '#', ' ', 'a;b']; // prettier-ignore
      const value = () => Array.from({ length: Math.floor(random() * 4) }, () => pick(atoms)).join('');
      const written = (text: string) =>
        /["\r\n]|^ | $/.test(text) || text.includes(delimiter) || random() < 0.1
          ? `"${text.replaceAll('"', '""')}"`
          : text;
      const header = Array.from({ length: width }, (_, index) => `name${index}`);
      const rows = Array.from({ length: 1 + Math.floor(random() * 30) }, (_, row) => [
        `r${row}`,
        ...Array.from({ length: width - 1 }, value),
      ]);
      let text = `${pick(['', '\ufeff'])}${header.join(delimiter)}${newline}`;
      // As DuckDB counts lines: without breaks within quotes.
      let line = 2;
      const badLines: number[] = [];
      const add = (record: string) => {
        text += record + newline;
        line += 1;
      };
      for (const row of rows) {
        if (random() < 0.05) add('');
        if (random() < 0.05) {
          badLines.push(line);
          add(pick([[...header, 'x', 'y'].join(delimiter), 'lone']));
        }
        add(row.map(written).join(delimiter));
      }
      if (random() < 0.3) text = text.slice(0, -newline.length);
      const types = Object.fromEntries(header.map((name) => [name, 'VARCHAR']));
      const found = await values.read('file.csv', text, { on_bad_rows: 'skip', types });
      const named = [...found.notes.join(' ').matchAll(/line (\d+) of/g)].map(([, at]) => Number(at));
      const expected = rows.map((row) => row.map((field) => (field === '' ? null : field)));
      const context = JSON.stringify(text);
      expect({ context, rows: found.rows, named }).toEqual({ context, rows: expected, named: badLines });
    }
  });
});

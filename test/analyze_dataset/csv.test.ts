/** Every line of a CSV file is a row, the header, or named in a note or an error. */
import type { Json } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  estimateArtifact,
  inspect,
  profileColumns,
  runQuery,
  writeParquet,
} from '../../activities/analyze_dataset/analysis.js';
import { saferPlan } from '../../activities/analyze_dataset/csv-plan.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

const THOUSAND = `a,b,c\n${Array.from({ length: 1000 }, (_, row) => `${row},x${row},${2 * row}`).join('\n')}\n`;

async function read(text: string | Buffer, onBadRows: 'fail' | 'skip' = 'fail', name = 'file.csv') {
  await box.file(name, text);
  const inspection = await inspect(name, { ...box.options, onBadRows });
  const { rows } = await runQuery(
    { path: name, limit: 1000 },
    { ...box.options, reading: inspection.reading },
  );
  const columns = inspection.columns.map((column) => column.name);
  return { columns, rows, rowCount: inspection.rowCount, notes: inspection.notes };
}

async function refused(text: string | Buffer, onBadRows: 'fail' | 'skip' = 'fail'): Promise<string> {
  await box.file('file.csv', text);
  const { code, message } = await refusal(inspect('file.csv', { ...box.options, onBadRows }));
  expect(code).toBe('unreadable');
  return message;
}

describe('a line that does not fit the header', () => {
  it.each([
    ['one field too many at the end', `${THOUSAND}6,7,8,9\n`, 1002, '4 fields', '6,7,8,9'],
    ['one field too few at the end', `${THOUSAND}6,7\n`, 1002, '2 fields', '6,7'],
    ['a total below the table', `${THOUSAND}Total,7\n`, 1002, '2 fields', 'Total,7'],
    ['a field too many in the middle', `${THOUSAND}6,7,8,9\n1,2,3\n`, 1002, '4 fields', '6,7,8,9'],
    ['one row in a small file', 'a,b,c\n1,2,3\n6,7,8,9\n', 3, '4 fields', '6,7,8,9'],
    ['a comma without quotes', 'id,text\n1,hi\n2,hello, world\n3,x\n', 3, '3 fields', '2,hello, world'],
    ['spaces alone', 'a,b\n1,2\n   \n3,4\n', 3, '1 field', '   '],
    ['text after a closing quote', 'a,b\n1,"x" y\n3,4\n', 2, 'text after a closing quote', '1,"x" y'],
    ['a quote that never closes', 'a,b\n1,x\n2,"y\n3,z\n', 3, 'a quote that never closes', '2,"y'],
    ['below quoted line ends', 'a,b\n1,"x\ny\r\nz"\n2,3,4\n', 5, '3 fields', '2,3,4'],
    ['below blank lines', 'a,b\n\n\n1,2\n\n2,3,4\n', 6, '3 fields', '2,3,4'],
  ])('%s is named, or left out and named', async (_, text, line, came, shown) => {
    const message = await refused(text);
    expect(message).toContain(`line ${line} has ${came}: ${JSON.stringify(shown)}`);
    expect(message).toContain('on_bad_rows: "skip"');
    const lines = text.split('\n').filter((each) => each !== '').length;
    const { rowCount, notes } = await read(text, 'skip');
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(`1 line was skipped in file.csv`);
    expect(notes[0]).toContain(`line ${line} has ${came}: ${JSON.stringify(shown)}`);
    const more = text.includes('\r\n') ? 2 : 0;
    expect(rowCount).toBe(lines - 2 - more);
  });

  it('is skipped by every step alike, and takes no column its type', async () => {
    await box.file('total.csv', `${THOUSAND}Total,7\n`);
    const { reading, columns, profileBatches, rowCount } = await inspect('total.csv', {
      ...box.options,
      onBadRows: 'skip',
    });
    expect(columns.map(({ type }) => type)).toEqual(['BIGINT', 'VARCHAR', 'BIGINT']);
    expect(rowCount).toBe(1000);
    const options = { ...box.options, reading };
    const [a] = await profileColumns('total.csv', profileBatches[0]!, options);
    expect(a).toMatchObject({ row_count: 1000, null_count: 0, max: 999 });
    const query = { path: 'total.csv', limit: 1 };
    expect((await runQuery({ ...query, aggregates: [{ fn: 'sum', column: 'c' }] }, options)).rows).toEqual([
      [999_000],
    ]);
    expect((await estimateArtifact(query, options)).rowCount).toBe(1000);
    const target = `${box.root}/total.parquet`;
    expect((await writeParquet(query, target, options)).rowCount).toBe(1000);
    expect(await plainSql(`SELECT count(*), sum(a) FROM '${target}'`)).toEqual([[1000, 499_500]]);
    const direct = await runQuery({ ...query, on_bad_rows: 'skip' }, box.options);
    expect(direct.rowCount).toBe(1000);
    expect(direct.notes[0]).toContain('line 1002');
  });

  it('is one of many: ten are shown, all are counted', async () => {
    const text = `a,b\n${'1,2\n'.repeat(100)}${'1,2,3\n'.repeat(25)}`;
    const message = await refused(text);
    expect(message).toContain('has 25 lines that do not fit its 2 columns ("a", "b"): line 102 has 3 fields');
    expect(message).toContain('; and 15 more. Fix');
    const { rowCount, notes } = await read(text, 'skip');
    expect(rowCount).toBe(100);
    expect(notes[0]).toContain('25 lines were skipped');
  });

  it('is refused either way when no line fits: the header is wrong', async () => {
    const text = 'a,b,c\nr1,1,2,3\nr2,4,5,6\n';
    for (const way of ['fail', 'skip'] as const) {
      expect(await refused(text, way)).toContain('name each column in the header');
    }
  });

  it('that is longer than 16 MB is named; a value of 15 MB is read', async () => {
    const { rows } = await read(`a,b\n1,${'x'.repeat(15_000_000)}\n2,3\n`);
    expect(rows.map(([a]) => a)).toEqual([1, 2]);
    const header = 'x'.repeat(600_000);
    expect((await read(`${header},b\n1,2\n`)).columns).toEqual([header, 'b']);
    expect(await refused(`a,b\n1,${'x'.repeat(17_000_000)}\n2,3\n`)).toContain(
      'its line 2 is longer than 16 MB',
    );
  });
});

describe('a plain file is read without a note', () => {
  const AB = { columns: ['a', 'b'], rows: [[1, 2], [3, 4]], rowCount: 2, notes: [] }; // prettier-ignore
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
    ['separators at the end of each row', 'a,b\n1,2,\n3,4,\n', AB],
    ['separators at the end of the header', 'a,b,\n1,2\n3,4\n', AB],
    ['everything quoted', '"a","b"\n"1","2"\n"3","4"\n', AB],
    ['one column', 'a\n1\n2\n', { columns: ['a'], rows: [[1], [2]], rowCount: 2, notes: [] }],
    ['a header alone', 'a,b\n', { columns: ['a', 'b'], rows: [], rowCount: 0, notes: [] }],
    ['empty fields', 'a,b\n,\n1,\n', { columns: ['a', 'b'], rows: [[null, null], [1, null]], rowCount: 2, notes: [] }],
    ['quoted separators, quotes and line ends', 'a,b\n1,"x, ""y""\n\nz"\n', { columns: ['a', 'b'], rows: [[1, 'x, "y"\n\nz']], rowCount: 1, notes: [] }],
    ['a quote within a field', 'a,b\n1,5" pipe\n', { columns: ['a', 'b'], rows: [[1, '5" pipe']], rowCount: 1, notes: [] }],
    ['a line end in the header', '"a\nb",c\r\n1,2\r\n', { columns: ['a\nb', 'c'], rows: [[1, 2]], rowCount: 1, notes: [] }],
    ['text alone', 'name,city\nAnn,Rome\n', { columns: ['name', 'city'], rows: [['Ann', 'Rome']], rowCount: 1, notes: [] }],
    ['a backslash at the end of a quoted value', 'a,b\n1,"C:\\"\n2,"D:\\"\n', { columns: ['a', 'b'], rows: [[1, 'C:\\'], [2, 'D:\\']], rowCount: 2, notes: [] }],
  ])('%s', async (_, text, expected) => {
    expect(await read(text)).toEqual(expected);
  }); // prettier-ignore
});

describe('a guess that may be wrong is a note', () => {
  it.each([
    [
      'a title',
      'Sales 2026\n\na,b\n1,2\n',
      ['a', 'b'],
      1,
      'Lines 1 to 2 stand above the table and are left out.',
    ],
    ['a title with a quote', 'Pipes of 5" width\na,b\n1,2\n', ['a', 'b'], 1, 'Line 1 stands above'],
    ['a title in an open quote', '"Sales\na,b\n1,2\n3,4\n', ['a', 'b'], 2, 'Line 1 stands above'],
    ['comments', '# by x, on y, at z\n#\na,b\n1,2\n3,4\n', ['a', 'b'], 2, 'Lines 1 to 2 stand above'],
    ['a block above', 'Station,Vienna,x\n\na,b\n1,2\n3,4\n5,6\n', ['a', 'b'], 3, 'Lines 1 to 2 stand above'],
    ['no header', '1,2\n3,4\n', ['column0', 'column1'], 2, 'No header was found: line 1 is data'],
    ['numbers in the header', 'id,1990\n1,x\n2,y\n', ['id', '1990'], 2, 'although it holds numbers'],
    ['a header that may be data', 'Ann,Rome\nBob,Rome\n', ['Ann', 'Rome'], 1, 'so it may be data'],
    ['a name twice', 'a,A\n1,2\n', ['a', 'A_1'], 1, '"a" and "A" differ by case only: "A" is called "A_1"'],
    ['no name', ',b\n1,2\n', ['column0', 'b'], 1, 'Column 1 has no name'],
    ['several line ends', 'a,b\n1,2\r\n3,4\r5,6', ['a', 'b'], 3, 'line ends of several kinds (LF, CRLF, CR)'],
    ['escapes', 'a,b\n1,"x \\"y\\""\n2,"z"\n', ['a', 'b'], 2, 'escaped by a backslash'],
    ['single quotes', "a,b\n1,'x, y'\n2,'z'\n", ['a', 'b'], 2, "quoted with '"],
    ['text with commas', 'text\nhello, world\nfoo\na, b, c\n', ['text'], 3, 'read as one column'],
    ['blank lines in one column', 'a\n1\n\n2\n', ['a'], 3, '1 blank line is a row without a value'],
    ['two separators', 'a;x,b\n1;2,3\n', ['a;x', 'b'], 1, 'would split'],
    ['decimal commas', 'a;b\n1,5;x\n3;y\n', ['a', 'b'], 2, 'decimal comma'],
  ])('%s', async (_, text, columns, rowCount, note) => {
    const found = await read(text);
    expect(found).toMatchObject({ columns, rowCount });
    expect(found.notes.join(' ')).toContain(note);
    expect(found.notes).toHaveLength(1);
  });

  it('as of separators within the one column of a TSV file', async () => {
    const { columns, rows, notes } = await read('n\n375,439\n41,386\n', 'fail', 'file.tsv');
    expect([columns, rows]).toEqual([['n'], [['375,439'], ['41,386']]]);
    expect(notes.length).toBeGreaterThan(0);
  });

  it('as of quotes in a TSV file', async () => {
    const { rows, notes } = await read('a\tb\n1\t"2\n3\t4\n', 'fail', 'file.tsv');
    expect(rows).toEqual([[1, '"2'], [3, '4']]); // prettier-ignore
    expect(notes).toEqual([
      'Quotes are read as ordinary characters.',
      'Column "b" is read as text: 1 of its 2 values are no numbers, such as "\\"2".',
    ]);
  });
});

it('a file of blank lines is refused', async () => {
  expect(await refused('\n\n\n')).toContain('has no line with a value');
});

it('a quoted value that holds a table is one value, in the file and in a copy of it', async () => {
  const table = Array.from({ length: 300 }, (_, line) => `e${line},some text here,99\n`).join('');
  const rows = Array.from({ length: 7000 }, (_, row) => `${row},"${table}",5\n`);
  await box.file('embedded.csv', `id,t,x\n${rows.join('')}`);
  const { rowCount, notes, reading } = await inspect('embedded.csv', box.options);
  expect([rowCount, notes]).toEqual([
    7000,
    ['Column "t": 7000 values begin or end with spaces, which count.'],
  ]);
  const copied = saferPlan(reading.csv!)!;
  expect([reading.csv!.isSequential, copied.groups[0]!.copied, saferPlan(copied)]).toEqual([
    true,
    true,
    undefined,
  ]);
  const sum = { path: 'embedded.csv', aggregates: [{ fn: 'sum' as const, column: 'id' }], limit: 1 };
  for (const csv of [reading.csv!, copied]) {
    const result = await runQuery(sum, { ...box.options, reading: { ...reading, csv } });
    expect(result.rows).toEqual([[(7000 * 6999) / 2]]);
  }
});

it('rows that DuckDB does not return are an error', async () => {
  await box.file('plain.csv', THOUSAND);
  const { reading } = await inspect('plain.csv', box.options);
  const { learned: _, ...rest } = reading;
  const csv = { ...reading.csv!, rowCount: 1001 };
  const { message } = await refusal(inspect('plain.csv', { ...box.options, reading: { ...rest, csv } }));
  expect(message).toBe("path: plain.csv can't be read: the CSV Reader returns 1000 of 1001 rows");
});

describe('whatever a file holds', () => {
  // Numbers that repeat: a linear congruential generator.
  let state = Number(process.env['LONGHAUL_CSV_SEED'] ?? 1);
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

  /** The text of a field. Spaces around numbers don't count; quotes around nothing or spaces are a text only among other texts. */
  const asWritten = (field: Json, text: string | null | undefined) => {
    if (typeof field === 'number' && text?.trim() === String(field)) return text;
    if (field === null && text?.trim() === '') return text;
    return field === null ? null : String(field);
  };

  it('rows come as they were written, and lines that do not fit are named', async () => {
    for (let round = 0; round < 60; round += 1) {
      const [newline, delimiter, width] = [
        pick(['\n', '\r\n', '\r']),
        pick([',', ';', '\t', '|']),
        pick([2, 3, 5]),
      ];
      const atoms = [
        'x',
        '12',
        'hello world',
        'é',
        '"',
        '""',
        delimiter,
        newline,
        "it's",
        '5" w',
        '\\',
        '#',
        ' ',
        'a;b',
      ];
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
      let line = 2;
      const badLines: number[] = [];
      const expected: (string | null)[][] = [];
      const add = (record: string) => {
        text += record + newline;
        line += record.split(newline).length;
      };
      for (const row of rows) {
        if (random() < 0.05) add('');
        if (random() < 0.05) {
          badLines.push(line);
          add(pick([[...header, 'x', 'y'].join(delimiter), 'lone']));
        }
        const fields = row.map(written);
        expected.push(row.map((field, index) => (fields[index] === '' ? null : field)));
        add(fields.join(delimiter));
      }
      if (random() < 0.3) text = text.slice(0, -newline.length);
      const found = await read(text, 'skip');
      const named = [...found.notes.join(' ').matchAll(/line (\d+) has/g)].map(([, number]) =>
        Number(number),
      );
      const context = JSON.stringify(text);
      expect({
        context,
        rows: found.rows.map((row, at) => row.map((field, index) => asWritten(field, expected[at]?.[index]))),
        named,
      }).toEqual({ context, rows: expected, named: badLines });
      if (badLines.length > 0) expect(await refused(text)).toContain(`line ${badLines[0]} has`);
    }
  });
});

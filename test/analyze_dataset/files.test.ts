/** Files by name and by pattern, packed, and in other encodings. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inspect, profileColumns, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { fileBytes, filesMatching } from '../../platform/storage/data-folders.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

const CSV = `a,b,c\n${Array.from({ length: 5000 }, (_, row) => `${row},x${row % 7},${Math.random()}`).join('\n')}\n`;
const JSON_LINES = Array.from({ length: 5000 }, (_, a) => `{"a":${a},"r":${Math.random()}}\n`).join('');

async function look(given: string, more: Partial<DatasetQuery> = {}) {
  const { bytes, rowCount, columns, reading } = await inspect(given, { ...box.options, given: more });
  const { rows, notes } = await runQuery({ path: given, limit: 20 }, { ...box.options, reading });
  const others = notes.filter((note) => !note.startsWith('CSV is read with'));
  return { bytes, rowCount, rows, columns: columns.map(({ name }) => name), notes: others };
}

async function unreadable(name: string, content: string | Buffer, given = {}): Promise<string> {
  await box.file(name, content);
  const { code, message } = await refusal(inspect(name, { ...box.options, given }));
  expect(code).toBe('unreadable');
  return message;
}

describe('gzip', () => {
  it.each([
    ['packed.csv.gz', CSV],
    ['packed.ndjson.gz', JSON_LINES],
  ])('%s gives what the plain file gives, in every step', async (name, content) => {
    const packed = gzipSync(content);
    await box.file(name, packed);
    await box.file(name.slice(0, -3), content);
    const [one, other] = [await inspect(name, box.options), await inspect(name.slice(0, -3), box.options)];
    expect(one).toMatchObject({ bytes: packed.length, rowCount: 5000, columns: other.columns });
    const options = { ...box.options, reading: one.reading };
    const [profile] = await profileColumns(name, ['a'], options);
    expect(profile).toMatchObject({ row_count: 5000, min: 0, max: 4999 });
  });

  it('reports progress', async () => {
    await box.file('large.csv.gz', gzipSync(`a,b\n${'1,some text\n'.repeat(9_000_000)}`, { level: 1 }));
    const { reading } = await inspect('large.csv.gz', box.options);
    box.reports.length = 0;
    await runQuery({ path: 'large.csv.gz', group_by: ['b'], limit: 1 }, { ...box.options, reading });
    const shares = box.reports.map(({ share }) => share);
    expect(shares.some((share) => share > 0)).toBe(true);
    expect(shares).toEqual([...shares].sort((one, next) => one - next));
  });

  it.each([
    ['cut.csv.gz', gzipSync(CSV).subarray(0, -2000)],
    ['tail.csv.gz', gzipSync(CSV).subarray(0, -8)],
    ['cut.ndjson.gz', gzipSync(JSON_LINES).subarray(0, -8)],
    ['sum.csv.gz', flipped(gzipSync(CSV), -6)],
    ['sum.json.gz', flipped(gzipSync(JSON_LINES), -6)],
    ['plain.csv.gz', 'a,b\n1,2\n'],
    ['nothing.csv.gz', gzipSync('')],
    ['gzip.csv', gzipSync(CSV)],
    ['zip.csv', 'PK\x03\x04\0\0...'],
    ['gzip.parquet', gzipSync('PAR1')],
  ])('%s is refused', async (name, content) => {
    expect(await unreadable(name, content)).toContain(name);
  });

  function flipped(bytes: Buffer, at: number): Buffer {
    bytes[bytes.length + at]! ^= 1;
    return bytes;
  }
});

describe('an encoding', () => {
  const TEXT = 'name,b\ncafé,1\n“q”,2\n';
  const ROWS = [['café', 1], ['“q”', 2]]; // prettier-ignore
  const latin = Buffer.from('name,b\ncaf\xe9,1\n\x93q\x94,2\n', 'latin1');
  it.each<[string, Buffer, string | undefined]>([
    ['utf-16le', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), undefined],
    ['utf-16be', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16(), undefined],
    ['utf-16le', Buffer.from(TEXT, 'utf16le'), 'utf-16le'],
    ['utf-16be', Buffer.from(TEXT, 'utf16le').swap16(), 'UTF-16BE'],
    ['windows-1252', latin, 'cp1252'],
  ])('%s is read, with a note', async (name, content, encoding) => {
    await box.file('wide.csv', content);
    const { rows, notes } = await look('wide.csv', encoding === undefined ? {} : { encoding });
    expect([rows, notes]).toEqual([ROWS, [`wide.csv is read as ${name}.`]]);
  });

  it('of JSON and of packed files is read too', async () => {
    await box.file('wide.json', Buffer.from('\ufeff[{"a":"é"}]', 'utf16le'));
    expect((await look('wide.json')).rows).toEqual([['é']]);
    await box.file('latin.csv.gz', gzipSync(latin));
    expect((await look('latin.csv.gz', { encoding: 'windows-1252' })).rows).toEqual(ROWS);
    await box.file('plain.csv', TEXT);
    expect(await look('plain.csv', { encoding: 'utf8' })).toMatchObject({ rows: ROWS, notes: [] });
  });

  it('that the bytes do not have is refused', async () => {
    const broken = Buffer.concat([Buffer.from(`\ufeff${TEXT}`, 'utf16le'), Buffer.from([0, 0xd8, 0x41, 0])]);
    expect(await unreadable('broken.csv', broken)).toContain('broken.csv is expected to be utf-16le');
    expect(await unreadable('latin.csv', latin)).toContain('set encoding, such as "windows-1252"');
    const late = Buffer.from(`a,b\n${'x,1\n'.repeat(300_000)}\xe9,2\n`, 'latin1');
    expect(await unreadable('late.csv', late)).toContain('CSV Error on Line: 300002');
    const json = Buffer.from('{"a":1}\n{"a":"\xe9"}\n', 'latin1');
    expect(await unreadable('latin.ndjson', json)).toContain('set encoding');
  });
});

describe('a pattern', () => {
  beforeAll(async () => {
    await mkdir(path.join(box.data, 'logs', 'deep', 'er'), { recursive: true });
    await box.file('logs/2026-02.csv', 'id;n\r\n3;4\r\n');
    await box.file('logs/2026-01.csv', 'id,n\n1,2\n');
    await box.file('logs/2026-03.csv.gz', gzipSync('n,id\n6,5\n'));
    await box.file('logs/deep/er/2026-04.csv', 'id,n\n7,8\n');
    await box.file('logs/other.csv', 'z\n1\n');
    await box.file('logs/.hidden.csv', 'id,n\n9,9\n');
  });

  it('reads all files that match, sorted, whatever their dialects', async () => {
    const found = await look('logs/2026-*.csv*');
    expect(found).toMatchObject({ rowCount: 3, columns: ['id', 'n'], rows: [[1, 2], [3, 4], [5, 6]] }); // prettier-ignore
    expect(found.notes).toEqual([
      '3 files are read, from logs/2026-01.csv to logs/2026-03.csv.gz. Their columns are joined by name: one that a file lacks has no value in its rows.',
    ]);
    expect(found.bytes).toBe(await fileBytes('logs/2026-*.csv*', box.options.dataFolders));
    expect(found.bytes).toBe(8 + 12 + gzipSync('n,id\n6,5\n').length);
    const deep = await look(`${box.data}/logs/**/2026-0[14].csv`);
    expect(deep.rows).toEqual([[1, 2], [7, 8]]); // prettier-ignore
    const one = await look('logs/2026-?1.csv');
    expect(one.notes).toEqual(['logs/2026-?1.csv matches one file: logs/2026-01.csv.']);
  });

  it('joins other columns by name', async () => {
    const { columns, rows } = await look('logs/[2o]*[1r].csv');
    expect([columns, rows]).toEqual([['id', 'n', 'z'], [[1, 2, null], [null, null, 1]]]); // prettier-ignore
  });

  it('leaves empty files out, names the files of lines that do not fit, and has types for all files', async () => {
    await box.file('p-1.csv', 'id,n\n1,2\n');
    await box.file('p-2.csv', 'id,n\n1,2,3\nx,2.5\n');
    await box.file('p-3.csv', '');
    expect((await refusal(inspect('p-*.csv', box.options))).code).toBe('unreadable');
    const { rows, notes } = await look('p-*.csv', { on_bad_rows: 'skip' });
    expect(rows).toEqual([['1', 2], ['x', 2.5]]); // prettier-ignore
    expect(notes.join(' ')).toContain('Empty files (0 bytes) are left out: p-3.csv.');
    expect(notes.join(' ')).toContain('line 2 of p-2.csv');
  });

  it('reads JSON and Parquet files too, and notes types that differ', async () => {
    await box.file('j1.ndjson', '{"a":1}\n');
    await box.file('j2.ndjson', '{"a":2,"b":"x"}\n');
    expect((await look('j?.ndjson')).rows).toEqual([[1, null], [2, 'x']]); // prettier-ignore
    await plainSql(`COPY (SELECT 1 AS a, 2 AS b) TO '${box.data}/q1.parquet'`);
    await plainSql(`COPY (SELECT 3 AS b, 2.5::DOUBLE AS a, 'x' AS c) TO '${box.data}/q2.parquet'`);
    const parquet = await look('q*.parquet');
    expect(parquet.rows).toEqual([[1, 2, null], [2.5, 3, 'x']]); // prettier-ignore
    expect(parquet.notes[1]).toBe('"a" has several types in the files, and is read as one for all.');
  });

  it('without a match, of several formats, or of too many files is refused', async () => {
    const refused = async (given: string) => (await refusal(inspect(given, box.options))).message;
    const folders = box.options.dataFolders.folders.join(', ');
    expect(await refused('logs/1999-*.csv')).toBe(
      `path: no file matches logs/1999-*.csv (allowed folders: ${folders})`,
    );
    await box.file('logs/some.json', '{"a":1}');
    expect(await refused('logs/*')).toContain('expected files of one format');
    await mkdir(path.join(box.data, 'many'));
    for (let file = 0; file <= 1000; file += 1) await box.file(`many/${file}.csv`, 'a\n1\n');
    expect(await refused('many/*.csv')).toContain('matches 1001');
    await rm(path.join(box.data, 'many/0.csv'));
    expect((await inspect('many/*.csv', box.options)).rowCount).toBe(1000);
  });

  it('has no size, and no files, once the signal fires during the search', async () => {
    const ending = () => {
      const controller = new AbortController();
      setImmediate(() => controller.abort(new Error('over')));
      return controller.signal;
    };
    expect(await fileBytes('many/*.csv', box.options.dataFolders, new AbortController().signal)).toBe(4000);
    expect(await fileBytes('many/*.csv', box.options.dataFolders, ending())).toBeUndefined();
    await expect(filesMatching('many/*.csv', box.options.dataFolders, ending())).rejects.toThrow('over');
  });

  it('that matches other files later is refused', async () => {
    const { reading } = await inspect('logs/2026-*.csv', box.options);
    await box.file('logs/2026-05.csv', 'id,n\n1,2\n');
    const later = runQuery({ path: 'logs/2026-*.csv', limit: 1 }, { ...box.options, reading });
    expect((await refusal(later)).message).toContain('matches other files');
    await rm(path.join(box.data, 'logs/2026-05.csv'));
  });

  it('follows no link to a folder by **, and none out of the folders', async () => {
    await mkdir(path.join(box.root, 'elsewhere'));
    await writeFile(path.join(box.root, 'elsewhere', '2026-01.csv'), 'password\nhunter2\n');
    await symlink(path.join(box.root, 'elsewhere'), path.join(box.data, 'logs', 'linked'));
    expect((await look('logs/**/2026-0[14].csv')).rowCount).toBe(2);
    expect((await refusal(inspect('logs/linked/*.csv', box.options))).code).toBe('not_allowed');
  });
});

/** Files by name and by pattern, packed, and in other encodings. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  estimateArtifact,
  inspect,
  profileColumns,
  runQuery,
} from '../../activities/analyze_dataset/analysis.js';
import { withSession } from '../../activities/analyze_dataset/session.js';
import { fileBytes, filesMatching } from '../../platform/data-folders.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

const CSV = `a,b,c\n${Array.from({ length: 5000 }, (_, row) => `${row},x${row % 7},${Math.random()}`).join('\n')}\n`;
const JSON_LINES = Array.from({ length: 5000 }, (_, a) => `{"a":${a},"r":${Math.random()}}\n`).join('');

async function look(given: string, onBadRows?: 'skip') {
  const inspection = await inspect(given, { ...box.options, ...(onBadRows && { onBadRows }) });
  const { rows } = await runQuery(
    { path: given, limit: 20 },
    { ...box.options, reading: inspection.reading },
  );
  const { bytes, rowCount, columns, notes } = inspection;
  return { bytes, rowCount, rows, columns: columns.map(({ name }) => name), notes };
}

async function unreadable(name: string, content: string | Buffer): Promise<string> {
  await box.file(name, content);
  const { code, message } = await refusal(inspect(name, box.options));
  expect([code, message.includes(name)]).toEqual(['unreadable', true]);
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
    expect(one).toMatchObject({ bytes: packed.length, rowCount: 5000, columns: other.columns, notes: [] });
    const options = { ...box.options, reading: one.reading };
    const [profile] = await profileColumns(name, ['a'], options);
    expect(profile).toMatchObject({ row_count: 5000, min: 0, max: 4999 });
    const estimate = await estimateArtifact({ path: name, limit: 1 }, options);
    expect(estimate).toEqual(
      await estimateArtifact(
        { path: name.slice(0, -3), limit: 1 },
        { ...box.options, reading: other.reading },
      ),
    );
  });

  it('reports progress', async () => {
    await box.file('large.csv.gz', gzipSync(`a,b\n${'1,some text\n'.repeat(9_000_000)}`, { level: 1 }));
    const { reading } = await inspect('large.csv.gz', box.options);
    box.options.reports.length = 0;
    await runQuery({ path: 'large.csv.gz', group_by: ['b'], limit: 1 }, { ...box.options, reading });
    const shares = box.options.reports.map(({ progress }) => progress);
    expect(shares.some((share) => share > 0)).toBe(true);
    expect(shares).toEqual([...shares].sort((one, next) => one - next));
  });

  it.each([
    ['cut.csv.gz', gzipSync(CSV).subarray(0, -2000), 'is a gzip file that is cut off'],
    ['tail.csv.gz', gzipSync(CSV).subarray(0, -8), 'is a gzip file that is cut off'],
    ['cut.ndjson.gz', gzipSync(JSON_LINES).subarray(0, -8), 'is a gzip file that is cut off'],
    ['sum.csv.gz', flipped(gzipSync(CSV), -6), 'is a damaged gzip file (incorrect data check)'],
    ['sum.json.gz', flipped(gzipSync(JSON_LINES), -6), 'is a damaged gzip file (incorrect data check)'],
    ['plain.csv.gz', 'a,b\n1,2\n', 'holds no gzip data; if it is plain text, rename it to plain.csv'],
    ['zip.csv.gz', 'PK\x03\x04...', 'holds a ZIP archive'],
    ['nothing.csv.gz', gzipSync(''), 'is empty (0 bytes once unpacked)'],
    ['inner.csv.gz', gzipSync('PAR1...'), 'holds Parquet data'],
    ['gzip.csv', gzipSync(CSV), 'holds gzip data; rename it to gzip.csv.gz'],
    ['zip.csv', 'PK\x03\x04...', 'holds a ZIP archive (or an Excel workbook)'],
    ['parquet.csv', 'PAR1...', 'holds Parquet data; rename it to parquet.parquet'],
    ['sqlite.json', 'SQLite format 3\0...', 'holds an SQLite database'],
    ['gzip.parquet', gzipSync('PAR1'), 'is expected to be Parquet; it holds gzip data'],
  ])('%s is refused for what it is', async (name, content, said) => {
    expect(await unreadable(name, content)).toContain(said);
  });

  function flipped(bytes: Buffer, at: number): Buffer {
    bytes[bytes.length + at]! ^= 1;
    return bytes;
  }
});

describe('an encoding', () => {
  const TEXT = 'name,b\ncafé,1\n“q”,2\n';
  it.each([
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16 BE with a mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
    ['UTF-16 LE', Buffer.from(TEXT, 'utf16le')],
    ['UTF-16 BE', Buffer.from(TEXT, 'utf16le').swap16()],
  ])('%s is read, with a note', async (_, content) => {
    await box.file('wide.csv', content);
    const { rows, notes, rowCount } = await look('wide.csv');
    expect([rowCount, rows]).toEqual([2, [['café', 1], ['“q”', 2]]]); // prettier-ignore
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('UTF-16');
    await box.file('wide.json', Buffer.from('\ufeff[{"a":"é"}]', 'utf16le'));
    const json = await look('wide.json');
    expect([json.rows, json.notes]).toEqual([[['é']], ['wide.json is read as UTF-16.']]);
  });

  it('in UTF-16 names bad lines, and broken UTF-16 is refused', async () => {
    expect(await unreadable('wide.csv', Buffer.from(`\ufeff${TEXT}1,2,3\n`, 'utf16le'))).toContain(
      'line 4 has 3',
    );
    const { rowCount, notes } = await look('wide.csv', 'skip');
    expect([rowCount, notes.length]).toEqual([2, 2]);
    const broken = Buffer.concat([Buffer.from(`\ufeff${TEXT}`, 'utf16le'), Buffer.from([0, 0xd8, 0x41, 0])]);
    expect(await unreadable('broken.csv', broken)).toContain('is expected to be UTF-16');
  });

  it.each([
    ['latin.csv', 'a,b\nx,1\ncafé,2\n', 'line 3, byte 12 of the file is 0xE9'],
    ['late.csv', `a,b\n${'x,1\n'.repeat(300_000)}é,2\n`, 'line 300002, byte 1200005 of the file is 0xE9'],
    ['latin.ndjson', '{"a":1}\n{"a":"é"}\n', 'line 2, byte 15 of the file is 0xE9'],
  ])('of 8 bits in %s is refused with the place and the way out', async (name, text, place) => {
    const message = await unreadable(name, Buffer.from(text, 'latin1'));
    expect(message).toContain(place);
    const copy = name.replace('.', '.utf8.');
    expect(message).toContain(`convert it with: iconv -f WINDOWS-1252 -t UTF-8 '${name}' > '${copy}'`);
  });

  it('of 8 bits in a gzipped file is refused with a pipe', async () => {
    expect(await unreadable('latin.csv.gz', gzipSync(Buffer.from('a,b\ncafé,2\n', 'latin1')))).toContain(
      `gunzip -c 'latin.csv.gz' | iconv -f WINDOWS-1252 -t UTF-8 | gzip > 'latin.utf8.csv.gz'`,
    );
  });

  it.each(["Ann's $(touch x).csv", "Ann's $(touch x).csv.gz"])(
    'of 8 bits in %s is converted by the command in the message',
    async (name) => {
      const text = Buffer.from('a,b\ncafé,2\n', 'latin1');
      const message = await unreadable(name, name.endsWith('.gz') ? gzipSync(text) : text);
      const command = message.split('convert it with: ')[1]!;
      execFileSync('sh', ['-c', command], { cwd: box.data });
      expect((await look(name.replace('.csv', '.utf8.csv'))).rows).toEqual([['café', 2]]);
    },
  );
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
    expect(found.notes).toEqual(['3 files are read, from logs/2026-01.csv to logs/2026-03.csv.gz.']);
    expect(found.bytes).toBe(await fileBytes('logs/2026-*.csv*', box.options.dataFolders));
    expect(found.bytes).toBe(8 + 12 + gzipSync('n,id\n6,5\n').length);
    const deep = await look(`${box.data}/logs/**/2026-0[14].csv`);
    expect(deep.rows).toEqual([[1, 2], [7, 8]]); // prettier-ignore
    const one = await look('logs/2026-?1.csv');
    expect(one.notes).toEqual(['logs/2026-?1.csv matches one file: logs/2026-01.csv.']);
  });

  it('joins other columns by name, with a note', async () => {
    const { columns, rows, notes } = await look('logs/[2o]*[1r].csv');
    expect([columns, rows]).toEqual([['id', 'n', 'z'], [[1, 2, null], [null, null, 1]]]); // prettier-ignore
    expect(notes.slice(1)).toEqual([
      'Column "id" is missing in logs/other.csv: no value in rows from there.',
      'Column "n" is missing in logs/other.csv: no value in rows from there.',
      'Column "z" is missing in logs/2026-01.csv: no value in rows from there.',
    ]);
  });

  it('names the file of a line that does not fit, leaves empty files out, and types fit all files', async () => {
    await box.file('p-1.csv', 'id,n\n1,2\n');
    await box.file('p-2.csv', 'id,n\n1,2,3\nx,2.5\n');
    await box.file('p-3.csv', '');
    expect((await refusal(inspect('p-*.csv', box.options))).message).toContain('p-2.csv has a line that');
    const { rows, notes } = await look('p-*.csv', 'skip');
    expect(rows).toEqual([['1', 2], ['x', 2.5]]); // prettier-ignore
    expect(notes.join(' ')).toContain('Empty files (0 bytes) are left out: p-3.csv.');
    expect(notes.join(' ')).toContain('1 line was skipped in p-2.csv');
  });

  it('reads JSON and Parquet files too, and notes what differs', async () => {
    await box.file('j1.ndjson', '{"a":1}\n');
    await box.file('j2.ndjson', '{"a":2,"b":"x"}\n');
    const json = await look('j?.ndjson');
    expect(json.rows).toEqual([[1, null], [2, 'x']]); // prettier-ignore
    expect(json.notes[1]).toContain('joined by name');
    await plainSql(`COPY (SELECT 1 AS a, 2 AS b) TO '${box.data}/q1.parquet'`);
    await plainSql(`COPY (SELECT 3 AS b, 2.5::DOUBLE AS a, 'x' AS c) TO '${box.data}/q2.parquet'`);
    const parquet = await look('q*.parquet');
    expect(parquet.rows).toEqual([[1, 2, null], [2.5, 3, 'x']]); // prettier-ignore
    expect(parquet.notes.slice(1)).toEqual([
      'Column "c" is missing in q1.parquet: no value in rows from there.',
      'Column "a" is INTEGER in q1.parquet and DOUBLE in q2.parquet: read as a type for both.',
    ]);
  });

  it('without a match, of several formats, or of too many files is refused', async () => {
    const none = await refusal(inspect('logs/1999-*.csv', box.options));
    expect(none).toEqual({
      code: 'not_found',
      message: `path: no file matches logs/1999-*.csv (allowed folders: ${box.options.dataFolders.folders.join(', ')})`,
    });
    await box.file('logs/notes.txt', 'x');
    expect((await refusal(inspect('logs/*', box.options))).code).toBe('unsupported_format');
    await rm(path.join(box.data, 'logs/notes.txt'));
    await box.file('logs/some.json', '{"a":1}');
    expect((await refusal(inspect('logs/*', box.options))).message).toContain('expected files of one format');
    await mkdir(path.join(box.data, 'many'));
    for (let file = 0; file <= 1000; file += 1) await box.file(`many/${file}.csv`, 'a\n1\n');
    expect((await refusal(inspect('many/*.csv', box.options))).message).toContain('matches 1001');
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
    expect((await refusal(later)).message).toContain('other files match');
    await rm(path.join(box.data, 'logs/2026-05.csv'));
  });

  it('opens nothing but its matches, and no links out of the folders', async () => {
    const read = ['logs/2026-01.csv', 'logs/2026-02.csv'].map((name) => path.join(box.data, name));
    await withSession({ read }, box.options, async (session) => {
      for (const readPath of session.readPaths) await session.run(`SELECT * FROM read_csv('${readPath}')`);
      for (const other of ['logs/other.csv', 'logs/*.csv']) {
        await expect(session.run(`SELECT * FROM read_csv('${box.data}/${other}')`)).rejects.toBeDefined();
      }
    });
    const secret = path.join(box.root, 'secret.csv');
    await writeFile(secret, 'password\nhunter2\n');
    await mkdir(path.join(box.root, 'elsewhere'));
    await writeFile(path.join(box.root, 'elsewhere', 'secret.csv'), 'password\nhunter2\n');
    await symlink(path.join(box.root, 'elsewhere'), path.join(box.data, 'logs', 'linked'));
    expect((await look('logs/**/2026-0[14].csv')).rowCount).toBe(2);
    expect((await refusal(inspect('logs/linked/*.csv', box.options))).code).toBe('not_allowed');
    await symlink(secret, path.join(box.data, 'logs', '2026-99.csv'));
    expect((await refusal(inspect('logs/2026-*.csv', box.options))).code).toBe('not_allowed');
    expect(await fileBytes('logs/2026-*.csv', box.options.dataFolders)).toBeUndefined();
  });
});

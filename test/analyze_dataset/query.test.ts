/** Filters, groups, aggregates and order, also over fields within structs, named by paths. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runQuery, writeParquet } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';
import { FLIGHTS, plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

const PEOPLE =
  'id,name,born,score,member\n1,Ann,1990-05-01,1.5,true\n2,Bob,1985-01-31,,false\n3,,2001-12-24,2.5,true\n' +
  '9007199254740993,"Zoë|O\'Neil",1985-01-31,-1,\n';
const USERS = [
  { id: 1, city: 'Rome', zip: 10, first: 'Ann' },
  { id: 2, city: 'Vienna', zip: 20, first: 'Bob' },
  { id: 3, city: 'Rome', zip: 30, first: 'Eve' },
].map(({ id, city, zip, first }) => ({
  id,
  user: { addr: { city, 'zip code': zip }, tags: ['x'], 'first.name': first, say: { '"hi", (you)': id } },
  'a.b': id * 100,
  a: { b: id, c: id * 7 },
}));

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
  await box.file('people.csv', PEOPLE);
  const users = await box.file('users.ndjson', USERS.map((user) => JSON.stringify(user)).join('\n'));
  await plainSql(`COPY (SELECT *, MAP {'k': id} AS labels FROM '${users}') TO '${box.data}/users.parquet'`);
});
afterAll(() => box.remove());

const query = (path: string, rest: Partial<DatasetQuery>) =>
  runQuery({ path, limit: 50, ...rest }, box.options);
const ids = async (filters: Filter[]) => (await query('people.csv', { filters })).rows.map((row) => row[0]);
const BIG = '9007199254740993';

describe('a query', () => {
  it('reads names with the characters of patterns', async () => {
    await box.file('sales [*].csv', 'a\n1\n');
    await box.file('sales [x].csv', 'a\n99\n');
    expect((await query('sales [*].csv', {})).rows).toEqual([[1]]);
  });

  it('keeps the order of the file when nothing is grouped or ordered', async () => {
    const result = await query(FLIGHTS, { limit: 3 });
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
    const members: Filter = { column: 'member', op: 'eq', value: 'true' };
    expect(await ids([members, { column: 'id', op: 'gt', value: 1 }])).toEqual([3]);
  });

  it.each<[string, Filter, string]>([
    ['text for a number', { column: 'id', op: 'eq', value: 'abc' }, 'a number for "id" (BIGINT); got "abc"'],
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
  const twins = ['N', 'n'].map((as) => ({ fn: 'count' as const, as }));
  it.each<[string, Partial<DatasetQuery>, string]>([
    ['a column that does not exist', { group_by: ['nmae'] }, 'unknown_column: group_by[0]: expected one of the columns "id", "name", "born", "score", "member"; got "nmae"'],
    ['an order by what is not in the result', { group_by: ['name'], order_by: [{ column: 'id' }] }, 'unknown_column: order_by[0].column: expected one of the columns "name", "count"; got "id"'],
    ['the sum of a text', { aggregates: [{ fn: 'sum', column: 'name' }] }, 'bad_aggregate: aggregates[0].column: sum expects a numeric column; "name" is VARCHAR'],
    ['two results of one name', { aggregates: twins }, 'bad_aggregate: group_by, aggregates: two columns of the result would be called "n"; name one with "as"'],
  ])('are refused: %s', async (_, rest, said) => {
    const { code, message } = await refusal(query('people.csv', rest));
    expect(`${code}: ${message}`).toBe(said);
  }); // prettier-ignore

  it('may be called like columns of the file without standing in for them', async () => {
    const filters: Filter[] = [{ column: 'score', op: 'gt', value: 1 }];
    const { rows } = await query('people.csv', {
      filters,
      aggregates: [{ fn: 'sum', column: 'score', as: 'id' }],
    });
    expect(rows).toEqual([[4]]);
  });

  it('keep every digit: integers beyond 2^53 and long decimals come as strings', async () => {
    const file = `${box.data}/exact.parquet`;
    await plainSql(
      `COPY (SELECT 9223372036854775807::BIGINT AS big, 12.50::DECIMAL(10,2) AS price,
                    12345678901234567890.123456789::DECIMAL(38,9) AS long, 'nan'::DOUBLE AS nan,
                    TIMESTAMPTZ '2001-01-01 02:00:00+02' AS moment, DATE '2001-01-01' AS day
             FROM range(2)) TO '${file}'`,
    );
    const long = '12345678901234567890.123456789';
    expect((await query(file, { limit: 1 })).rows).toEqual([
      ['9223372036854775807', 12.5, long, null, '2001-01-01T00:00:00Z', '2001-01-01'],
    ]);
    const sum = await query(file, { aggregates: [{ fn: 'sum', column: 'big' }] });
    expect(sum.rows).toEqual([['18446744073709551614']]);
  });
});

describe.each(['users.ndjson', 'users.parquet'])('a path in %s', (path) => {
  it('filters, groups, aggregates and orders, and names the column of the result', async () => {
    const { columns, rows } = await query(path, {
      filters: [{ column: 'user.addr.zip code', op: 'ge', value: 10 }],
      group_by: ['user.addr.city'],
      aggregates: [
        { fn: 'sum', column: 'user.addr.zip code' },
        { fn: 'median', column: 'a.c', as: 'm' },
      ],
      order_by: [{ column: 'user.addr.city', direction: 'desc' }],
    });
    expect(columns.map(({ name }) => name)).toEqual(['user.addr.city', 'sum_user.addr.zip code', 'm']);
    expect(rows).toEqual([['Vienna', 20, 14], ['Rome', 40, 14]]); // prettier-ignore
    const ordered = await query(path, { order_by: [{ column: 'user.addr.zip code', direction: 'desc' }] });
    expect(ordered.rows.map(([id]) => id)).toEqual([3, 2, 1]);
    const structs = await query(path, { group_by: ['user.addr'], limit: 1 });
    expect(structs.rows).toEqual([[{ city: 'Rome', 'zip code': 10 }, 1]]);
  });

  it('finds a name with a dot before a field, and fields with dots and quotes', async () => {
    const columns = ['a.b', 'a.c', 'user.say."hi", (you)'];
    const sums = await query(path, { aggregates: columns.map((column) => ({ fn: 'sum' as const, column })) });
    expect(sums.rows).toEqual([[600, 42, 6]]);
    const filters: Filter[] = [{ column: 'user.first.name', op: 'in', value: ['Bob', 'Eve'] }];
    expect((await query(path, { filters })).rowCount).toBe(2);
  });

  it.each([
    ['user.addr.cty', 'fields "city", "zip code" of "user.addr"; got "user.addr.cty"'],
    ['usr.addr', 'columns "id", "user", "a.b", "a"'],
    ['user.tags.x', 'fields (none) of "user.tags"'],
    ['user.addr.city.x', 'fields (none) of "user.addr.city"'],
    ['user.addr.', 'of "user.addr"; got "user.addr."'],
    ['.user', 'columns "id"'],
  ])('%s leads nowhere, and is refused with the fields of that level', async (column, said) => {
    const { message } = await refusal(query(path, { filters: [{ column, op: 'not_null' }] }));
    expect(message).toContain('filters[0].column: expected one of the ');
    expect(message).toContain(said);
  });
});

it('a path into a map is refused', async () => {
  const { message } = await refusal(query('users.parquet', { group_by: ['labels.k'] }));
  expect(message).toContain('one of the fields (none) of "labels"');
});

it('a path names the column of the Parquet file', async () => {
  const query = { path: 'users.ndjson', group_by: ['user.addr.city'], limit: 1 };
  const { file } = await writeParquet(query, box.options);
  const rows = await plainSql(`SELECT "user.addr.city", count FROM '${file}'`);
  expect(rows).toEqual([['Rome', 2], ['Vienna', 1]]); // prettier-ignore
});

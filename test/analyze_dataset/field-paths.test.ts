/** Fields within structs, named by paths. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runQuery, writeParquet } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { plainSql, refusal, sandbox } from './support.js';
import type { Sandbox } from './support.js';

const ROWS = [
  { id: 1, city: 'Rome', zip: 10, first: 'Ann' },
  { id: 2, city: 'Vienna', zip: 20, first: 'Bob' },
  { id: 3, city: 'Rome', zip: 30, first: 'Eve' },
];

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
  const lines = ROWS.map(({ id, city, zip, first }) =>
    JSON.stringify({
      id,
      user: { addr: { city, 'zip code': zip }, tags: ['x'], 'first.name': first, say: { '"hi", (you)': id } },
      'a.b': id * 100,
      a: { b: id, c: id * 7 },
    }),
  );
  await box.file('users.ndjson', lines.join('\n'));
  await plainSql(
    `COPY (SELECT *, MAP {'k': id} AS labels FROM '${box.data}/users.ndjson') TO '${box.data}/users.parquet'`,
  );
});
afterAll(() => box.remove());

describe.each(['users.ndjson', 'users.parquet'])('a path in %s', (path) => {
  const query = (rest: Partial<DatasetQuery>) => runQuery({ path, limit: 10, ...rest }, box.options);

  it('groups, aggregates and orders, and names the column of the result', async () => {
    const { columns, rows } = await query({
      group_by: ['user.addr.city'],
      aggregates: [
        { fn: 'sum', column: 'user.addr.zip code' },
        { fn: 'median', column: 'a.c', as: 'm' },
      ],
      order_by: [{ column: 'user.addr.city', direction: 'desc' }],
    });
    expect(columns.map(({ name }) => name)).toEqual(['user.addr.city', 'sum_user.addr.zip code', 'm']);
    expect(rows).toEqual([
      ['Vienna', 20, 14],
      ['Rome', 40, 14],
    ]);
  });

  it('filters and orders rows', async () => {
    const { rows } = await query({
      filters: [
        { column: 'user.addr.city', op: 'eq', value: 'Rome' },
        { column: 'user.addr.zip code', op: 'ge', value: 10 },
      ],
      order_by: [{ column: 'user.addr.zip code', direction: 'desc' }],
    });
    expect(rows.map(([id]) => id)).toEqual([3, 1]);
  });

  it('finds a name with a dot before a field, and fields with dots and quotes', async () => {
    const sum = async (column: string) => (await query({ aggregates: [{ fn: 'sum', column }] })).rows[0]![0];
    expect([await sum('a.b'), await sum('a.c'), await sum('user.say."hi", (you)')]).toEqual([600, 42, 6]);
    const found = await query({ filters: [{ column: 'user.first.name', op: 'in', value: ['Bob', 'Eve'] }] });
    expect(found.rowCount).toBe(2);
  });

  it('groups by a whole struct as well', async () => {
    const { rows } = await query({ group_by: ['user.addr'], limit: 1 });
    expect(rows).toEqual([[{ city: 'Rome', 'zip code': 10 }, 1]]);
  });

  it('that leads nowhere is refused with the fields of that level', async () => {
    const message = async (column: string) =>
      (await refusal(query({ filters: [{ column, op: 'not_null' }] }))).message;
    expect(await message('user.addr.cty')).toBe(
      'filters[0].column: expected one of the fields "city", "zip code" of "user.addr"; got "user.addr.cty"',
    );
    expect(await message('usr.addr')).toContain('expected one of the columns "id", "user", "a.b", "a"');
    for (const leaf of ['user.tags', 'user.addr.city'])
      expect(await message(`${leaf}.x`)).toContain(`one of the fields (none) of "${leaf}"`);
    expect(await message('user.addr.')).toContain('of "user.addr"; got "user.addr."');
    expect(await message('.user')).toContain('expected one of the columns');
    const order = await refusal(query({ order_by: [{ column: 'user.addr.x' }] }));
    expect(order.message).toContain('order_by[0].column: expected one of the fields "city", "zip code"');
  });
});

it('a path into a map is refused', async () => {
  const { message } = await refusal(
    runQuery({ path: 'users.parquet', group_by: ['labels.k'], limit: 1 }, box.options),
  );
  expect(message).toContain('one of the fields (none) of "labels"');
});

it('a path names the column of the Parquet file', async () => {
  const target = `${box.root}/cities.parquet`;
  await writeParquet({ path: 'users.ndjson', group_by: ['user.addr.city'], limit: 1 }, target, box.options);
  expect(await plainSql(`SELECT "user.addr.city", count FROM '${target}'`)).toEqual([
    ['Rome', 2],
    ['Vienna', 1],
  ]);
});

/** Longhaul's own regular expressions over callers' input take linear time. */
import { expect, test } from '@jest/globals';
import { Hono } from 'hono';
import { filterCondition } from '../../activities/analyze_dataset/query.js';
import { preferencesOf } from '../../mcp-server/http-jobs/headers.js';

const app = new Hono().get('/', (c) => c.json(preferencesOf(c)));

const prefer = async (header: string): Promise<unknown> =>
  (await app.request('/', { headers: { prefer: header } })).json();

test.each([
  ['semicolons and spaces', `!${'; '.repeat(40)}"`],
  ['semicolons, 16 KiB of them', `!${'; '.repeat(8_000)}"`],
  ['escapes in a quote that stays open', `a="${'\\"'.repeat(8_000)}`],
])('a Prefer header of %s is ignored', async (_what, header) => {
  expect(await prefer(header)).toEqual({ respondAsync: false });
});

test('Prefer headers are read as before', async () => {
  const header = 'respond-async; x ; y="a, b;" ;, wait = 10;';
  expect(await prefer(header)).toEqual({ respondAsync: true, wait: 10 });
});

test('a filter whose number has a million digits is refused', () => {
  const filter = { column: 'n', op: 'eq' as const, value: `${'1'.repeat(1_000_000)}x` };
  expect(() => filterCondition(filter, 'filters[0]', [{ name: 'n', type: 'INTEGER' }] as never)).toThrow(
    'a number',
  );
});

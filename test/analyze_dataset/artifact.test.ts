import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runQuery, writeParquet } from '../../activities/analyze_dataset/analysis.js';
import { estimateDatasetArtifact } from '../../activities/analyze_dataset/index.js';
import { FLIGHTS, plainSql, sandbox } from './support.js';
import type { Sandbox } from './support.js';

let box: Sandbox;
beforeAll(async () => {
  box = await sandbox();
});
afterAll(() => box.remove());

const byRoute = {
  path: FLIGHTS,
  filters: [{ column: 'delay', op: 'gt' as const, value: 0 }],
  group_by: ['origin', 'destination'],
  aggregates: [{ fn: 'count' as const }, { fn: 'sum' as const, column: 'delay' }],
  order_by: [{ column: 'count', direction: 'desc' as const }],
  limit: 10,
};

describe('the Parquet artifact', () => {
  it('holds the whole result in its order, whatever the limit of the answer', async () => {
    const { file, rowCount } = await writeParquet(byRoute, box.options);
    const answer = await runQuery({ ...byRoute, limit: 1000 }, box.options);
    expect(rowCount).toBe(answer.rowCount);
    expect(rowCount).toBeGreaterThan(1000);
    expect(await plainSql(`SELECT * FROM '${file}' LIMIT 1000`)).toEqual(answer.rows);
  });

  it('keeps sums that a double could not hold', async () => {
    const source = path.join(box.data, 'big.parquet');
    await plainSql(`COPY (SELECT 9223372036854775807::BIGINT AS big FROM range(3)) TO '${source}'`);
    const query = {
      path: source,
      aggregates: [{ fn: 'sum' as const, column: 'big', as: 'total' }],
      limit: 1,
    };
    const { file } = await writeParquet(query, box.options);
    expect(await plainSql(`SELECT total::VARCHAR FROM '${file}'`)).toEqual([['27670116110564327421']]);
  });

  it('is estimated by its share of the rows before it is written', async () => {
    const file = { format: 'csv' as const, bytes: 1000, rowCount: 10 };
    expect(await estimateDatasetArtifact(5, file)).toEqual({ estimatedBytes: 250 });
    expect(await estimateDatasetArtifact(0, { ...file, rowCount: 0 })).toEqual({ estimatedBytes: 0 });
  });
});

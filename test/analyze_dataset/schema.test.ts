import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { analyzeDatasetInput, analyzeDatasetOutput } from '../../tools/analyze_dataset/index.js';
import { textTable } from '../../activities/analyze_dataset/values.js';

describe('the schemas', () => {
  it('become JSON Schema in which every field of the input is described', () => {
    const schema = z.toJSONSchema(analyzeDatasetInput, { io: 'input' });
    for (const field of Object.values(schema.properties ?? {})) {
      expect((field as { description?: string }).description).toMatch(/\w+/);
    }
    expect(schema.required).toEqual(['path']);
    expect(z.toJSONSchema(analyzeDatasetOutput)).toHaveProperty('properties.rows');
  });

  it.each([
    [{ path: 'a.csv', limit: 1001 }],
    [{ path: 'a.csv', limit: 0 }],
    [{ path: '' }],
    [{ path: 'a.csv', sql: 'SELECT 1' }],
    [{ path: 'a.csv', filters: [{ column: 'a', op: 'like', value: 'x' }] }],
    [{ path: 'a.csv', filters: [{ column: 'a', op: 'eq', value: { $gt: 1 } }] }],
    [{ path: 'a.csv', header: -1 }],
  ])('refuse %j', (input) => {
    expect(analyzeDatasetInput.safeParse(input).success).toBe(false);
  });
});

describe('the text table', () => {
  it('stays within 50 rows and 8 KB and says what it leaves out', () => {
    const rows = Array.from({ length: 200 }, (_, index) => [index, 'x'.repeat(100), 1.23456]);
    const table = textTable(['n', 'text', 'fraction'], rows, 12_345);
    expect(table).toContain('(50 of 12,345 rows)');
    expect(
      textTable(
        Array.from({ length: 40 }, (_, i) => `column ${i}`),
        [[...Array<null>(40).fill(null)]],
        1,
      ),
    ).toContain('30 of 40 columns');
    const wide = textTable(
      Array.from({ length: 20 }, (_, i) => `c${i}`),
      Array(60).fill(Array(20).fill('y'.repeat(80))),
      60,
    );
    expect(wide.length).toBeLessThan(8192);
  });

  it('can not be broken out of by a value', () => {
    expect(textTable(['a|b'], [['x | y\n| z']], 1)).toBe(
      '| a\\|b        |\n| ----------- |\n| x \\| y \\| z |',
    );
  });
});

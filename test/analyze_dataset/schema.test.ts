import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import analyzeDataset, {
  analyzeDatasetInput,
  analyzeDatasetOutput,
} from '../../tools/analyze_dataset/index.js';

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

describe('the text', () => {
  const text = (names: string[], rows: unknown[][], rowCount: number) => {
    const columns = names.map((name) => ({ name, type: 'VARCHAR' }));
    const file = { path: 'a.csv', format: 'csv', bytes: 1, row_count: rowCount, columns };
    return analyzeDataset.toText({ file, columns, rows, row_count: rowCount, notes: ['A note.'] });
  };

  it('has a table of 50 rows, 30 columns and 8 kB, and says what it leaves out', () => {
    const rows = Array.from({ length: 200 }, (_, index) => [index, 'x'.repeat(100), 1.23456]);
    expect(text(['n', 'text', 'fraction'], rows, 12_345)).toMatch(/\(50 of 12,345 rows\)\n\nA note\.$/);
    const names = Array.from({ length: 40 }, (_, index) => `column ${index}`);
    expect(text(names, [names.map(() => null)], 1)).toContain('(30 of 40 columns)');
    expect(text(names, Array(60).fill(names.map(() => 'y'.repeat(80))), 60).length).toBeLessThan(8192);
  });

  it('has a line of the table for each row, whatever its values', () => {
    expect(text(['a|b'], [['x | y\n| z']], 1)).toBe(
      '| a\\|b        |\n| ----------- |\n| x \\| y \\| z |\n\nA note.',
    );
  });
});

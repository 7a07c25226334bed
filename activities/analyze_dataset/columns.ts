import { unknownColumn } from './errors.js';
import type { Column } from '../../tools/analyze_dataset/index.js';

const NUMERIC =
  /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|UHUGEINT|FLOAT|DOUBLE|BIGNUM|DECIMAL\(.*\))$/;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

/** @throws DatasetError unknown_column, naming the known ones */
export function findColumn(where: string, name: string, columns: readonly Column[]): Column {
  const found = columns.find((column) => column.name === name);
  if (found) return found;
  throw unknownColumn(
    where,
    name,
    columns.map((column) => column.name),
  );
}

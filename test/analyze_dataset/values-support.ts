/** Small files of values, read and queried as the tool does it. */
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';
import { sandbox, type Sandbox } from './support.js';

export class ValueSandbox {
  #files = 0;

  private constructor(readonly box: Sandbox) {}

  static async make(): Promise<ValueSandbox> {
    return new ValueSandbox(await sandbox());
  }

  query(path: string, rest: Partial<DatasetQuery> = {}) {
    return runQuery({ path, limit: 100, ...rest }, this.box.options);
  }

  async rowsOf(path: string, ...filters: Filter[]) {
    return (await this.query(path, { filters })).rows;
  }

  /** Types and notes of a CSV file with one column `x` of these fields. */
  async column(fields: string[], name = `file${(this.#files += 1)}.csv`) {
    await this.box.file(name, `x\n${fields.map((field) => `${field}\n`).join('')}`);
    const { columns, notes } = await inspect(name, this.box.options);
    const { rows } = await this.query(name);
    return { type: columns[0]!.type, notes, rows: rows.map(([value]) => value) };
  }
}

/** A file of JSON values, one a line. */
export function lines(values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

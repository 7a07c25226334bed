/** Small files, inspected and queried as the tool does it. */
import { inspect, runQuery } from '../../activities/analyze_dataset/analysis.js';
import type { DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';
import { refusal, sandbox, type Sandbox } from './support.js';

export class ValueSandbox {
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

  /** Columns, rows and notes of a new file, less the note that every CSV file has. */
  async read(name: string, content: string | Buffer, given: Partial<DatasetQuery> = {}) {
    await this.box.file(name, content);
    const { columns, notes, rowCount, reading } = await inspect(name, { ...this.box.options, given });
    // A reading goes through Temporal's history as JSON.
    const passed = { ...this.box.options, reading: JSON.parse(JSON.stringify(reading)) };
    const { rows } = await runQuery({ path: name, limit: 1000 }, passed);
    return {
      names: columns.map((column) => column.name),
      types: columns.map(({ type }) => type),
      rows,
      rowCount,
      notes: notes.filter((note) => !note.startsWith('CSV is read with')),
      assumed: notes.find((note) => note.startsWith('CSV is read with')),
    };
  }

  /** Message of the error that refuses a new file. */
  async refused(name: string, content: string | Buffer, given: Partial<DatasetQuery> = {}): Promise<string> {
    await this.box.file(name, content);
    const { code, message } = await refusal(inspect(name, { ...this.box.options, given }));
    return `${code}: ${message}`;
  }
}

/** A file of JSON values, one a line. */
export function lines(values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

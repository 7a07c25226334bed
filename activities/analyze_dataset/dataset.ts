import { quotedString } from '@duckdb/node-api';
import { datasetErrorOf, DatasetError, messageOf } from './errors.js';
import { locate } from './locate.js';
import type { DatasetFile } from './locate.js';
import { neverBack } from './progress.js';
import type { OnProgress } from './progress.js';
import type { Column } from '../../tools/analyze_dataset.js';
import { withSession } from './session.js';
import type { DatasetOptions, Session, SessionFiles } from './session.js';

/**
 * CSV and JSON carry no types: DuckDB infers them from the first rows, and a later row may
 * not fit. What was learned about a file is a plain value, so that a caller can hand it from
 * one call to the next: every call then sees the same types, and none learns it again.
 */
export interface Reading {
  /** Columns of a CSV file that are read as text, since not all of their values fit the inferred type. */
  textColumns: string[];
  /** Whether a JSON file's types come from all of its rows. */
  wholeFileTypes: boolean;
}

export interface Dataset extends Session {
  file: DatasetFile;
  /** The table function that reads the file, to stand in a FROM. */
  source: string;
  /** Names and full types, as DuckDB spells them. */
  columns: Column[];
  reading: Reading;
  notes: string[];
  /** The caller's, but never going back when the work starts over. */
  onProgress: OnProgress;
}

const AS_INFERRED: Reading = { textColumns: [], wholeFileTypes: false };

/**
 * Opens the file and does `work` on it; when a value turns out not to fit its column's
 * inferred type, does the work again with a type that fits. So `work` may run more than once.
 * @throws DatasetError
 */
export async function withDataset<T>(
  givenPath: string,
  options: DatasetOptions & { reading?: Reading },
  work: (dataset: Dataset) => Promise<T>,
  files: Omit<SessionFiles, 'read'> = {},
): Promise<T> {
  const file = await locate(givenPath, options.allowedFolders);
  if (file.bytes === 0) {
    throw new DatasetError(
      'unreadable',
      `path: ${givenPath} is empty (0 bytes); expected ${file.format} data`,
    );
  }
  const onProgress = neverBack(options.onProgress.bind(options));
  let reading = options.reading ?? AS_INFERRED;
  for (;;) {
    let readPath = file.realPath;
    try {
      return await withSession({ read: file.realPath, ...files }, options, async (session) => {
        readPath = session.readPath;
        const source = sourceOf(file, session.readPath, reading);
        const described = await session.run(`DESCRIBE SELECT * FROM ${source}`);
        const columns = described
          .getRows()
          .map(([name, type]) => ({ name: String(name), type: String(type) }));
        return work({ ...session, file, source, columns, reading, notes: notesOn(reading), onProgress });
      });
    } catch (thrown) {
      if (options.signal.aborted) throw options.signal.reason;
      const wider = widerReading(file, reading, messageOf(thrown));
      if (!wider) throw datasetErrorOf(thrown, readPath, givenPath);
      reading = wider;
    }
  }
}

function sourceOf(file: DatasetFile, readPath: string, reading: Reading): string {
  const quoted = quotedString(readPath);
  switch (file.format) {
    case 'parquet':
      return `read_parquet(${quoted}, hive_partitioning = false)`;
    case 'csv': {
      const asText = reading.textColumns.map((column) => `${quotedString(column)}: 'VARCHAR'`);
      const types = asText.length === 0 ? '' : `, types = {${asText.join(', ')}}`;
      return `read_csv(${quoted}, hive_partitioning = false${types})`;
    }
    case 'json':
      return `read_json(${quoted}, hive_partitioning = false${reading.wholeFileTypes ? ', sample_size = -1' : ''})`;
  }
}

/** What to try after a value did not fit, or nothing when the file itself is at fault. */
function widerReading(file: DatasetFile, reading: Reading, message: string): Reading | undefined {
  if (file.format === 'csv') {
    const column = /Error when converting column "(.*?)"\. /s.exec(message)?.[1];
    if (column === undefined || reading.textColumns.includes(column)) return undefined;
    return { ...reading, textColumns: [...reading.textColumns, column] };
  }
  if (file.format === 'json' && !reading.wholeFileTypes && message.includes('JSON transform error')) {
    return { ...reading, wholeFileTypes: true };
  }
  return undefined;
}

function notesOn(reading: Reading): string[] {
  const notes = reading.textColumns.map(
    (column) =>
      `Column ${JSON.stringify(column)} is read as text: not all of its values fit the type of its first ones.`,
  );
  if (reading.wholeFileTypes)
    notes.push('Types come from all rows: a later row did not fit those of the first ones.');
  return notes;
}

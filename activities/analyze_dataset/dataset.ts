import { quotedString } from '@duckdb/node-api';
import { datasetErrorOf, DatasetError } from './errors.js';
import { locate } from './locate.js';
import type { DatasetFile, DatasetFormat } from './locate.js';
import { neverBack } from './progress.js';
import type { OnProgress } from './progress.js';
import { learn, sourceOf } from './learn.js';
import type { Learned } from './learn.js';
import type { Column } from '../../tools/analyze_dataset.js';
import { withSession } from './session.js';
import type { DatasetOptions, Session, SessionFiles } from './session.js';

/**
 * CSV and JSON carry no types, and no format says which values are NaN. What was learned about a file is a plain value, so that
 * a caller can hand it from one call to the next: every call then sees the same types, and none learns it again.
 */
export interface Reading {
  /** Columns that are text, although most of their values are of another type. */
  textColumns: string[];
  /** Whether types come from all rows. */
  wholeFileTypes: boolean;
  /** Missing in readings that were recorded before types were learned from all values: those are learned again. */
  learned?: Omit<Learned, 'mixed'>;
}

export interface Dataset extends Session {
  file: DatasetFile;
  /** The table function that reads the file, to stand in a FROM. */
  source: string;
  /** Names and full types, as DuckDB spells them. */
  columns: Column[];
  reading: Required<Reading>;
  notes: string[];
  /** The caller's, but never going back when the work starts over. */
  onProgress: OnProgress;
}

/**
 * Opens the file, learns its columns' types unless `options.reading` has them, and does `work` on it.
 * @param onLearned hears how much of the file has been read for its types, 0 to 1
 * @throws DatasetError
 */
export async function withDataset<T>(
  givenPath: string,
  options: DatasetOptions & { reading?: Reading; onLearned?: (share: number) => void },
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
  let readPath = file.realPath;
  try {
    return await withSession({ read: file.realPath, ...files }, options, async (session) => {
      readPath = session.readPath;
      const reading = await learnedReading(file.format, session, options);
      const { columns: read, notes } = reading.learned;
      const source = sourceOf(file.format, quotedString(readPath), read);
      const columns = read.map(({ name, type }) => ({ name, type }));
      return work({ ...session, file, source, columns, reading, notes, onProgress });
    });
  } catch (thrown) {
    if (options.signal.aborted) throw options.signal.reason;
    throw datasetErrorOf(thrown, readPath, givenPath);
  }
}

async function learnedReading(
  format: DatasetFormat,
  { run, readPath }: Session,
  { reading, onLearned = () => undefined }: { reading?: Reading; onLearned?: (share: number) => void },
): Promise<Required<Reading>> {
  if (reading?.learned) return { ...reading, learned: reading.learned };
  const { mixed, ...learned } = await learn(format, run, quotedString(readPath), onLearned);
  return { textColumns: mixed, wholeFileTypes: true, learned };
}

/**
 * Why a dataset could not be analysed. The list is closed; every code means that
 * trying again without a change is of no use. Anything else that goes wrong (a full
 * disk, a failed read) is thrown as it came and may be retried.
 */
export type DatasetErrorCode =
  | 'not_found'
  | 'not_allowed'
  | 'unsupported_format'
  | 'unreadable'
  | 'unknown_column'
  | 'bad_filter'
  | 'bad_aggregate'
  | 'out_of_memory'
  | 'out_of_disk';

/** Maximum length of a message, in characters: names and types are the file's, and may be of any length. */
const MAX_MESSAGE_CHARACTERS = 2000;

/** The message is for the caller: place, expected and actual value. A long one is cut in its middle. */
export class DatasetError extends Error {
  override readonly name = 'DatasetError';

  constructor(
    readonly code: DatasetErrorCode,
    message: string,
  ) {
    const half = MAX_MESSAGE_CHARACTERS / 2;
    super(
      message.length <= MAX_MESSAGE_CHARACTERS
        ? message
        : `${message.slice(0, half)}…${message.slice(-half)}`,
    );
  }
}

/** Message of a thrown value. Errors of native code are not instanceof Error in every realm. */
export function messageOf(thrown: unknown): string {
  const message = (thrown as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : String(thrown);
}

/** Error for an unknown column. */
export function unknownColumn(where: string, name: string, known: readonly string[]): DatasetError {
  return unknown(where, `one of the columns ${listed(known)}`, name);
}

/** Error for an unknown field of `parent`. */
export function unknownField(
  where: string,
  path: string,
  parent: string,
  known: readonly string[],
): DatasetError {
  return unknown(where, `one of the fields ${listed(known)} of ${JSON.stringify(parent)}`, path);
}

function unknown(where: string, expected: string, name: string): DatasetError {
  return new DatasetError('unknown_column', `${where}: expected ${expected}; got ${JSON.stringify(name)}`);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 100).map((name) => JSON.stringify(name));
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : '';
  return `${shown.join(', ')}${more}`;
}

/**
 * DuckDB's message for a file that it can't read, without the query,
 * the hints about its own SQL options and the path that it was given.
 */
export function datasetErrorOf(
  thrown: unknown,
  readPaths: readonly string[],
  givenPath: string,
  names: readonly string[],
): unknown {
  const full = readPaths.reduce(
    (text, readPath, index) => text.replaceAll(readPath, names[index]!),
    messageOf(thrown),
  );
  const message = (full.split(/\n\s*\n|\nPossible|\nTry increasing|\n\s+file = |\nLINE \d+:/)[0] ?? full)
    .replace(/\s*\n\s*/g, '; ')
    .trim();
  if (message.startsWith('Out of Memory Error')) {
    return new DatasetError(
      'out_of_memory',
      `the query over ${givenPath} needs more memory than the limit allows; ` +
        `filter more rows away, group by columns with fewer values, or use avg instead of median (${message})`,
    );
  }
  if (message.startsWith('Out of Range Error')) {
    return new DatasetError('bad_aggregate', `aggregates: a value is too large to be added up (${message})`);
  }
  if (message.startsWith('Permission Error')) {
    return new DatasetError('not_allowed', `path: ${givenPath} refers to something outside of itself`);
  }
  // A failed assertion in DuckDB: a crash that it has noticed.
  if (/^(INTERNAL|FATAL) Error/.test(message)) {
    return new DatasetError(
      'unreadable',
      `path: expected data that DuckDB can read; ${givenPath} makes it fail (${message})`,
    );
  }
  if (/not utf-8 encoded/i.test(message)) {
    return new DatasetError(
      'unreadable',
      `path: ${givenPath} is expected to be UTF-8 text; it holds other bytes (${message})`,
    );
  }
  if (
    /^(Invalid Input|Conversion|Serialization|Invalid|Parser|Binder|Not implemented) Error|No magic bytes|not a GZIP stream/i.test(
      message,
    )
  ) {
    return new DatasetError('unreadable', `path: ${givenPath} can't be read: ${message}`);
  }
  return thrown;
}

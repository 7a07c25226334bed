/** Reasons why a dataset can't be analysed. A retry without a change is of no use; other errors are thrown as they came. */
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
const MAX_LISTED_NAMES = 100;

/** The message is for the caller: place, expected and actual value. A long one is cut in its middle. */
export class DatasetError extends Error {
  override readonly name = 'DatasetError';

  constructor(
    readonly code: DatasetErrorCode,
    message: string,
  ) {
    const half = MAX_MESSAGE_CHARACTERS / 2;
    const isShort = message.length <= MAX_MESSAGE_CHARACTERS;
    super(isShort ? message : `${message.slice(0, half)}…${message.slice(-half)}`);
  }
}

export function unreadable(fault: string): DatasetError {
  return new DatasetError('unreadable', fault);
}

/** @param parent path of the struct whose fields are `known`; without it they are columns */
export function unknownColumn(where: string, name: string, known: readonly string[], parent = '') {
  const shown = known.slice(0, MAX_LISTED_NAMES).map((each) => JSON.stringify(each));
  const more = known.length > shown.length ? `, and ${known.length - shown.length} more` : '';
  const [what, of] = parent === '' ? ['columns', ''] : ['fields', ` of ${JSON.stringify(parent)}`];
  const expected = `expected one of the ${what} ${shown.join(', ') || '(none)'}${more}${of}`;
  return new DatasetError('unknown_column', `${where}: ${expected}; got ${JSON.stringify(name)}`);
}

/** Message of a thrown value. Errors of native code are not instanceof Error in every realm. */
export function messageOf(thrown: unknown): string {
  const message = (thrown as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : String(thrown);
}

const BAD_LINE =
  'fix it, leave such lines out with on_bad_rows: "skip", or set delimiter or header (line ends within quotes are not counted)';
/** Messages of DuckDB and of Node.js; the code and the words for each. % is the caller's path. The first that matches counts. */
const KINDS: [RegExp, DatasetErrorCode, string][] = [
  [/^Permission Error/, 'not_allowed', 'path: % refers to something outside of itself'],
  [/^(EACCES|IO Error.*: Permission denied)/, 'unreadable', 'path: % may not be read by the worker'],
  [/^ELOOP/, 'unreadable', 'path: % is a symbolic link that leads to itself'],
  [
    /^Out of Memory/,
    'out_of_memory',
    'the query over % needs more memory; filter rows away, or use fewer groups',
  ],
  [/^Out of Range Error/, 'bad_aggregate', 'aggregates: a value is too large to be added up'],
  [/^(INTERNAL|FATAL) Error/, 'unreadable', 'path: expected data that DuckDB can read; % makes it fail'],
  [/not utf-8|invalid utf-8/i, 'unreadable', 'path: % is not UTF-8; set encoding, such as "windows-1252"'],
  [/CSV Error on|Parser state/, 'unreadable', `path: % has a line that doesn't fit; ${BAD_LINE}`],
  [
    /^(Invalid|Conversion|Serialization|Parser|Binder|Not impl)|No magic bytes|not a GZIP/i,
    'unreadable',
    "path: % can't be read",
  ],
];

/** @param names paths that DuckDB was given -> names of the files in messages */
export function datasetErrorOf(
  thrown: unknown,
  names: ReadonlyMap<string, string>,
  givenPath: string,
): unknown {
  if (thrown instanceof DatasetError) return thrown;
  let full = messageOf(thrown);
  for (const [path, name] of names) full = full.replaceAll(path, name);
  // Without the query and the hints about DuckDB's own options. Its count of lines in JSON is off by one at times.
  const message = full
    .split(/\n\s*\n|\nPossible|\nTry |\n\s+file = |\nLINE \d+:/)[0]!
    .replace(/(Original Line: .{200}).*/, '$1…')
    .replace(/\s*\n\s*/g, '; ')
    .replace(/(at byte \d+) in line/, '$1 near line')
    .trim();
  const [, code, words] = KINDS.find(([pattern]) => pattern.test(message)) ?? [];
  if (!code) return thrown;
  // These name paths of the host.
  const detail = /^(Permission|IO) Error|^E[A-Z]+:/.test(message) ? '' : ` (${message})`;
  return new DatasetError(code, words!.replace('%', () => givenPath) + detail);
}

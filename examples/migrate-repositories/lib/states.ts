/** States of a repository, in their order. The last five are final. */
export const STATES = [
  'waiting',
  'cloning',
  'checking',
  'changing',
  'checking again',
  'ready',
  'committed',
  'declined',
  'unchanged',
  'skipped',
  'failed',
] as const;

export type State = (typeof STATES)[number];

/** A row of the table that is the partial result, and in the end the result. */
export interface Row {
  /** Name of its folder, unique in the call. */
  name: string;
  path: string;
  state: State;
  /** Why it is skipped or has failed. */
  reason?: string;
  /** To know before approving. */
  note?: string;
  files?: number;
  changes?: number;
  /** Places that the codemod leaves to a person: `FILE:LINE: REASON`. */
  left?: string[];
  /** Address of the diff. */
  diff?: string;
  /** Address of the output of the command that failed. */
  log?: string;
  branch?: string;
  commit?: string;
}

/** The rows as text, for people and clients without structured results. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ name, state, files, changes, left, reason, note, commit }) => {
    const counts = files === undefined ? '' : `${changes} in ${count(files, 'file')}`;
    const details = [
      reason,
      commit && `commit ${commit.slice(0, 10)}`,
      left?.length && `${left.length} left to you`,
      note,
    ];
    return [name, state, counts, details.filter(Boolean).join('; ')];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

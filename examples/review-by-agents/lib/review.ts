/** Shapes that tools, workflows, activities and agents share. Imports nothing, because workflows run in a sandbox. */
export const ASPECTS = ['lint', 'types', 'hygiene'] as const;
export type Aspect = (typeof ASPECTS)[number];

export const SEVERITIES = ['error', 'warning', 'note'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  file: string;
  /** From 1. */
  line: number;
  severity: Severity;
  rule: string;
  message: string;
  /** Aspects that found it. */
  by: Aspect[];
}

export interface ChangedFile {
  /** Relative to the folder, as it is after the change. */
  path: string;
  status: 'added' | 'modified' | 'deleted';
  isBinary: boolean;
  /** Numbers of the lines that the change adds, as pairs of first and last line. */
  added: [first: number, last: number][];
}

/** A file that isn't checked, and why. */
export interface Skipped {
  file: string;
  reason: string;
}

export const addedLines = ({ added }: ChangedFile): number =>
  added.reduce((sum, [first, last]) => sum + last - first + 1, 0);

export const isAdded = ({ added }: ChangedFile, line: number): boolean =>
  added.some(([first, last]) => first <= line && line <= last);

export const byPlace = (a: Finding, b: Finding): number =>
  a.file.localeCompare(b.file, 'en') ||
  a.line - b.line ||
  `${a.by} ${a.rule}`.localeCompare(`${b.by} ${b.rule}`, 'en');

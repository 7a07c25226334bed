/** Validation of one value: the interface for the keyword functions. */
import type { Pattern } from '../patterns/index.js';

/** Path to a part of the value, innermost key first. */
export type Path = { up: Path; key: string | number } | undefined;

/** A keyword that part of the value doesn't satisfy. */
export interface Problem {
  keyword: string;
  path: (string | number)[];
  /** The keyword's value in the schema. */
  rule: unknown;
  /** The part itself. */
  found: unknown;
  /** Missing where keyword and rule say it all. */
  error?: string | undefined;
}

/** Evaluated names or indexes of a value, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Evaluated = Set<string | number>;

export interface Part<T> {
  value: T;
  schema: Record<string, unknown>;
  path: Path;
  /** Undefined if no schema needs it. */
  evaluated: Evaluated | undefined;
}

/** Number of problems after which the rest of a list or object isn't checked. */
const ENOUGH_PROBLEMS = 100;

/** Whether a list or object has enough problems to skip the rest. @param before number of problems before it */
export function hasEnoughProblems(run: Run, before: number): boolean {
  return run.problems.length - before >= ENOUGH_PROBLEMS;
}

export interface Run {
  problems: Problem[];
  /** Checks a value against a schema. @param applied collects the evaluated names or indexes if it fits @returns whether it fits */
  visit(value: unknown, schema: unknown, path: Path, applied?: Evaluated): boolean;
  /** @param before index in `problems` for a summary: before the problems that it summarizes */
  fail(part: Omit<Part<unknown>, 'evaluated'>, keyword: string, error?: string, before?: number): void;
  pattern(source: string): Pattern;
}

/** Validation of one value: the interface that the functions for keywords use. */
import type { Pattern } from '../patterns/index.js';

/** Path from the whole value to a part of it, innermost key first. */
export type Path = { up: Path; key: string | number } | undefined;

/** A keyword that a part of the value doesn't satisfy. */
export interface Problem {
  keyword: string;
  /** Names and indexes down to the part. */
  path: (string | number)[];
  /** The keyword's value in the schema. */
  rule: unknown;
  /** The part itself. */
  found: unknown;
  /** The problem in a sentence. */
  error: string;
}

/** Evaluated names or indexes of a value, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Evaluated = Set<string | number>;

/** A part of the value and the schema that it must fit. */
export interface Part<T> {
  value: T;
  schema: Record<string, unknown>;
  path: Path;
  /** Undefined when no schema of the document needs it. */
  evaluated: Evaluated | undefined;
}

/** Number of problems within one list or object after which the rest of it isn't checked. */
const ENOUGH_PROBLEMS = 100;

/** Whether a list or object has enough problems to skip its other parts. @param before number of problems before it */
export function hasEnoughProblems(run: Run, before: number): boolean {
  return run.problems.length - before >= ENOUGH_PROBLEMS;
}

export interface Run {
  /** Problems so far. */
  problems: Problem[];
  /**
   * Checks a value against a schema.
   *
   * @param applied collects the evaluated names or indexes, if the value fits
   * @returns whether it fits
   */
  visit(value: unknown, schema: unknown, path: Path, applied?: Evaluated): boolean;
  /** @param before index in `problems` at which a summarizing problem is inserted: before those that it summarizes */
  fail(part: Omit<Part<unknown>, 'evaluated'>, keyword: string, error: string, before?: number): void;
  pattern(source: string): Pattern;
}

/** A check of one value, as the keywords' functions see it. */
import type { Pattern } from '../patterns/index.js';

/** Steps from the value as a whole down to a part of it, the last one first. */
export type Path = { up: Path; key: string | number } | undefined;

/** A keyword that a part of the value does not fit. */
export interface Problem {
  keyword: string;
  /** Names and indexes down to the part. */
  path: (string | number)[];
  /** What the schema says under the keyword. */
  rule: unknown;
  /** The part itself. */
  found: unknown;
  /** The problem in a sentence. */
  error: string;
}

/** The names or indexes of a value that schemas have applied to, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Evaluated = Set<string | number>;

/** A part of the value and the schema that it has to fit. */
export interface Part<T> {
  value: T;
  schema: Record<string, unknown>;
  path: Path;
  /** Undefined when no schema of the document asks for it. */
  evaluated: Evaluated | undefined;
}

/** How many problems within one list or object are enough to leave the rest of it unchecked. */
const ENOUGH_PROBLEMS = 100;

/** Is a list or object known to be so wrong that its other parts need no look? @param before how many problems there were before it */
export function hasEnoughProblems(run: Run, before: number): boolean {
  return run.problems.length - before >= ENOUGH_PROBLEMS;
}

export interface Run {
  /** Problems so far. */
  problems: Problem[];
  /**
   * Checks a value against a schema.
   *
   * @param applied takes what was evaluated, if the value fits
   * @returns whether it fits
   */
  visit(value: unknown, schema: unknown, path: Path, applied?: Evaluated): boolean;
  /** @param before how many problems there were before those that this one sums up, which it is to precede */
  fail(part: Omit<Part<unknown>, 'evaluated'>, keyword: string, error: string, before?: number): void;
  pattern(source: string): Pattern;
}

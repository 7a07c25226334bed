/** Messages for the issues that a schema finds in a file. */
import type { z } from 'zod';
import { preview, type KeyPath, type Report } from './problems.js';
import { at } from '../values.js';

type Issue = z.core.$ZodIssue;

export interface Hints {
  /** Ends the message about an unknown key. @param path of its map */
  ofKey: (path: KeyPath, key: string, value: unknown) => string;
  /** Ends the message about a wrong value, if there is a hint. */
  ofValue: (path: KeyPath, value: unknown) => string | undefined;
}

export function reportIssues(
  file: unknown,
  issues: readonly Issue[],
  report: Report,
  hints: Hints,
  above: KeyPath = [],
): void {
  for (const issue of issues) {
    const path = [...above, ...(issue.path as (string | number)[])];
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) {
        const value = valueAt(file, [...path, key]);
        report([...path, key], () => `unknown key; ${hints.ofKey(path, key, value)}`, 'key');
      }
    else if (issue.code === 'invalid_key')
      report(path, `${issue.issues[0]?.message}; got ${preview(path.at(-1))}`, 'key');
    else {
      const branch = issue.code === 'invalid_union' && issue.errors.find((errors) => errors.some(isWithin));
      if (branch) reportIssues(file, branch, report, hints, path);
      else report(path, () => describe(path, valueAt(file, path), issue.message, hints));
    }
  }
}

/** Whether the value has the right form and the problem is inside. */
function isWithin({ code, path }: Issue): boolean {
  return path.length > 0 || !['invalid_type', 'invalid_union', 'invalid_value'].includes(code);
}

function describe(path: KeyPath, value: unknown, expected: string, hints: Hints): string {
  if (value === undefined) return `missing; ${expected}`;
  const got = path.length === 0 && value === null ? 'an empty file' : preview(value);
  const hint = hints.ofValue(path, value);
  return `${expected}; got ${got}${hint ? `; ${hint}` : ''}`;
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (found, key) => (Array.isArray(found) ? (found as unknown[])[key as number] : at(found, String(key))),
    value,
  );
}

/** Reads YAML 1.2 files that settings name, such as the policy, with the line of each problem. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { didYouMean } from '../../operations/json/near-names.js';
import { formatProblem, type KeyPath, type Report } from '../../pipelines/yaml/problems.js';
import { parseYamlFile } from '../../pipelines/yaml/yaml-file.js';
import { SettingsError } from './index.js';

export interface YamlFormat<T> {
  /** In messages: `policy file`. */
  what: string;
  schema: z.ZodType<T>;
  /** All keys of the schema, to suggest for misspelled ones. */
  keys: readonly string[];
}

/** @throws SettingsError as {@link parseYamlSettings}, and for a file that can't be read */
export function readYamlSettings<T>(path: string, format: YamlFormat<T>): T {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`${path}: expected a ${format.what}; ${(error as Error).message}`, {
      cause: error,
    });
  }
  return parseYamlSettings(text, path, format);
}

/** @throws SettingsError with a line for each problem: `file:line:column: path: what was expected` */
export function parseYamlSettings<T>(text: string, path: string, { schema, keys }: YamlFormat<T>): T {
  const { value, problems } = parseYamlFile<{ data: T }>(text, path, (file, report) => {
    const parsed = schema.safeParse(file.value);
    if (parsed.success) return () => parsed;
    for (const issue of parsed.error.issues) reportIssue(issue, keys, report);
    return undefined;
  });
  if (!value) throw new SettingsError(problems.map(formatProblem).join('\n'));
  return value.data;
}

function reportIssue(issue: z.core.$ZodIssue, keys: readonly string[], report: Report): void {
  const path = issue.path as KeyPath;
  const within =
    issue.code === 'invalid_union' &&
    issue.errors.find((errors) =>
      errors.some((one) => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
  if (within)
    for (const one of within) reportIssue({ ...one, path: [...issue.path, ...one.path] }, keys, report);
  else if (issue.code === 'unrecognized_keys')
    for (const key of issue.keys) report([...path, key], `unknown key${didYouMean(key, keys)}`);
  else report(path, issue.message);
}

/** Reads YAML 1.2 files that settings name, such as the policy, with the line of each problem. */
import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { didYouMean } from '../../operations/json/near-names.js';
import { formatKeyPath, type KeyPath } from '../../pipelines/yaml/problems.js';
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
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  if (document.errors.length > 0)
    throw new SettingsError(
      document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message.split('\n', 1)[0]}`).join('\n'),
    );
  const parsed = schema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, keys));
  throw new SettingsError(
    problems
      .map(
        ({ path: keyPath, message }) =>
          `${at(offsetOf(document, keyPath))}: ${keyPath.length === 0 ? '' : `${formatKeyPath(keyPath)}: `}${message}`,
      )
      .join('\n'),
  );
}

function problemsOf(issue: z.core.$ZodIssue, keys: readonly string[]): { path: KeyPath; message: string }[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `unknown key${didYouMean(key, keys)}`,
    }));
  if (issue.code === 'invalid_union') {
    const within = issue.errors.find((errors) =>
      errors.some((one) => one.path.length > 0 || one.code === 'unrecognized_keys'),
    );
    if (within) return within.flatMap((one) => problemsOf({ ...one, path: [...path, ...one.path] }, keys));
  }
  return [{ path, message: issue.message }];
}

/** Offset of the value at a path, or of its nearest ancestor. */
function offsetOf(document: Document.Parsed, path: KeyPath): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

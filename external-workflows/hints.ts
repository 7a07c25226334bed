/** Hints for mistakes in files of tools. */
import { didYouMean } from '../operations/near-names.js';
import { CUT_OFF } from '../pipelines/hints.js';
import type { Hints } from '../pipelines/issues.js';
import type { KeyPath } from '../pipelines/problems.js';
import { LEVELS } from './schema.js';

export const TOOL_FILE_HINTS: Hints = { ofKey: insteadOf, ofValue: () => undefined };

/** Keys of pipelines and of tools in code that people may try here. */
const ELSEWHERE: Partial<Record<string, string>> = {
  jobs: 'pipelines have jobs; their files belong in pipelines/',
  inputs: 'write `input`',
  outputs: 'write `output`',
  arguments: 'write `args`',
  'task-queue': 'put it under `workflow`',
  taskQueue: 'put it under `workflow`, as `task-queue`',
  type: 'put it under `workflow`',
  namespace: 'put it under `workflow`',
  signal: 'put it under `cancel`, or under `question.answer`',
  schema: 'write `fields`',
};

function insteadOf(path: KeyPath, key: string, value: unknown): string {
  if (value === null) return CUT_OFF;
  const known = Object.keys(LEVELS[path.join('.')]?.shape ?? {});
  if (known.length === 0) return 'expected a keyword of JSON Schema';
  const near = didYouMean(key, known);
  if (near !== '') return `known are ${known.join(', ')}${near}`;
  return ELSEWHERE[key] ?? `known are ${known.join(', ')}`;
}

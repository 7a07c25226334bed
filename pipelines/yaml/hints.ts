/** Hints for mistakes in pipelines. */
import { isObject } from '../../operations/json/is-object.js';
import type { Hints } from './issues.js';
import { formatKeyPath, type KeyPath } from './problems.js';
import type { Level } from '../schema.js';
import { hintForKey } from '../unsupported/keys.js';
import { hintForForm, hintForText } from '../unsupported/values.js';

export const PIPELINE_HINTS: Hints = { ofKey: insteadOf, ofValue: hintOf };

function insteadOf(path: KeyPath, key: string, value: unknown): string {
  const level = levelOf(path);
  if (isObjectSchema(path) && (isObject(value) || value === null)) return underProperties(path, key);
  const isCutOff = value === null && ['schema', 'output', 'approval'].includes(level);
  return isCutOff ? CUT_OFF : hintForKey(level, key, value);
}

function hintOf(path: KeyPath, value: unknown): string | undefined {
  const key = path.at(-1);
  const level = levelOf(path.slice(0, -1));
  if (path[0] === 'jobs' && path.length === 2) return hintForText('job', String(key), value);
  if (path[2] === 'steps' && path.length === 4) return hintForText('step', '', value);
  if (level === 'schema' || level === 'output') {
    if (isObjectSchema(path.slice(0, -1)) && isObject(value))
      return underProperties(path.slice(0, -1), String(key));
    if (key === 'required') return 'list the required names in `required`, next to `properties`';
    return key === 'type' ? TYPES[String(value)] : undefined;
  }
  if (key === 'if') {
    const [, name] = /^(success|failure|always)\(\)$/.exec(String(value)) ?? [];
    if (/^!?cancelled\(\)$/.test(String(value))) return 'write always';
    return name ? `write ${name}` : 'there are no expressions: let the script decide';
  }
  const form = hintForForm(level, String(key), value);
  if (form !== undefined) return form;
  if (key === 'concurrency' && isObject(value))
    return 'give the number of jobs; `queue` bounds the operations that run at once';
  if (key === 'name' && path.length === 1 && typeof value === 'string') {
    const name = value.replace(/[^A-Za-z0-9]+/g, '_').replace(/^[^A-Za-z]+|_+$/g, '');
    return name && name !== value ? `write ${name.slice(0, 64)}` : undefined;
  }
  return undefined;
}

/** In `{ description: one, two }`, "two" is a key. */
export const CUT_OFF = 'text that contains a comma needs quotes within braces';

const TYPES: Partial<Record<string, string>> = {
  choice: 'use `enum` with the list of choices',
  environment: 'use `string`',
  text: 'use `string`',
  str: 'use `string`',
  int: 'use `integer`',
  float: 'use `number`',
  bool: 'use `boolean`',
  list: 'use `array`',
  map: 'use `object`',
  dict: 'use `object`',
};

function underProperties(path: KeyPath, key: string): string {
  return `put it under \`properties\`: ${formatKeyPath([...path, 'properties', key])}`;
}

/** Whether it's `inputs` or an approval's `fields`: people often forget the object schema's `properties`. */
function isObjectSchema(path: KeyPath): boolean {
  return (path.length === 1 && path[0] === 'inputs') || (path.length === 6 && path[5] === 'fields');
}

function levelOf(path: KeyPath): Level {
  const [top, , steps, , part] = path;
  if (path.length === 0) return 'pipeline';
  if (top === 'outputs' && path.length === 2) return 'output';
  if (top === 'queue' && path.length === 1) return 'queue';
  if (top !== 'jobs') return 'schema';
  if (path.length === 2) return 'job';
  if (path.length === 4 && steps === 'steps') return 'step';
  return path.length === 5 && (part === 'retry' || part === 'approval') ? part : 'schema';
}

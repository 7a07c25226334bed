/** Shapes of defineTool's options. Tool files are loaded without type checks, so the shapes are checked at load time. */
import { didYouMean } from '../json/near-names.js';

/** Shape of a value: a `typeof` name, one of some words, an object with known keys, or a list. */
export type OptionForm =
  | 'any'
  | 'string'
  | 'boolean'
  | 'number'
  | 'function'
  | 'object'
  | { words: string[] }
  | { keys: Record<string, OptionForm> }
  | { listOf: OptionForm };

const PER: OptionForm = { keys: { argument: 'string', of: 'any', seconds: 'any' } };

/** `any` is checked where it is used, with its own message. */
export const TOOL_OPTIONS = {
  name: 'any',
  title: 'string',
  description: { keys: { does: 'string', useWhen: 'string', returns: 'string' } },
  input: 'any',
  output: 'any',
  toText: 'function',
  taskSupport: { words: ['optional', 'required', 'forbidden'] },
  withoutTasks: { words: ['hidden', 'plain'] },
  wait: 'boolean',
  timeoutSeconds: 'any',
  deadlineSeconds: 'any',
  cleanupSeconds: 'any',
  inputWaitSeconds: 'any',
  estimate: {
    keys: {
      seconds: 'any',
      per: PER,
      variants: { listOf: { keys: { when: 'any', seconds: 'any', per: PER } } },
    },
  },
  keepAliveSeconds: 'any',
  cleanup: 'string',
  retryableErrors: { listOf: 'string' },
  example: { keys: { input: 'object', output: 'any' } },
  priority: 'number',
  queue: {
    keys: {
      name: 'string',
      concurrency: 'number',
      perCaller: 'number',
      maxWaiting: 'number',
      waitSeconds: 'number',
    },
  },
  askFor: 'object',
  questions: 'object',
  annotations: {
    keys: {
      readOnlyHint: 'boolean',
      destructiveHint: 'boolean',
      idempotentHint: 'boolean',
      openWorldHint: 'boolean',
    },
  },
} satisfies Record<string, OptionForm>;

/** Unknown options and values of another shape, at any depth, a line each: path, what was expected, what came. */
export function optionProblems(options: object, forms: Record<string, OptionForm>): string[] {
  return problemsOf('', options, { keys: forms });
}

function problemsOf(path: string, value: unknown, form: OptionForm): string[] {
  if (value === undefined || form === 'any') return [];
  const expected = (what: string) => [`${path}: expected ${what}; got ${preview(value)}`];
  if (typeof form === 'string')
    return typeof value === form && value !== null ? [] : expected(FORM_NAMES[form]);
  if ('listOf' in form)
    return Array.isArray(value)
      ? value.flatMap((item, index) => problemsOf(`${path}[${index}]`, item, form.listOf))
      : expected('a list');
  if ('words' in form)
    return form.words.includes(value as string)
      ? []
      : expected(form.words.map((word) => JSON.stringify(word)).join(' or '));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return expected('an object');
  const known = Object.keys(form.keys);
  const at = (key: string) => (path ? `${path}.${key}` : key);
  return Object.entries(value).flatMap(([key, item]) =>
    Object.hasOwn(form.keys, key)
      ? problemsOf(at(key), item, form.keys[key]!)
      : [`${at(key)}: unknown option${didYouMean(key, known) || `; known are ${known.join(', ')}`}`],
  );
}

const FORM_NAMES = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  function: 'a function',
  object: 'an object',
} as const;

function preview(value: unknown): string {
  const text = typeof value === 'function' ? 'a function' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

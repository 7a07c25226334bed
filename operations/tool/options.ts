/** Shapes of defineTool's options. Tool files are loaded without type checks, so the shapes are checked at load time. */
import { isObject } from '../json/is-object.js';
import { didYouMean } from '../json/near-names.js';
import { MAX_CONCURRENCY, MAX_WAITING, MAX_WAIT_SECONDS, PRIORITIES } from './queue.js';
import { preview } from './schema.js';

/** Shape of a value: a `typeof` name, a condition, one of some words, an object with known keys, or a list. */
export type OptionForm =
  | 'any'
  | 'string'
  | 'boolean'
  | 'function'
  | 'object'
  | { expected: string; fits: (value: unknown) => boolean }
  | { words: string[] }
  | { keys: Record<string, OptionForm>; needed?: string[] }
  | { listOf: OptionForm };

/** Maximum of options in seconds: a year. */
const MAX_SECONDS = 365 * 24 * 3600;

function seconds(most = MAX_SECONDS): OptionForm {
  return {
    expected: `seconds above 0, at most ${most}`,
    fits: (value) => typeof value === 'number' && value > 0 && value <= most,
  };
}

function whole(least: number, most: number): OptionForm {
  return {
    expected: `a whole number from ${least} to ${most}`,
    fits: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

const SECONDS_FROM_0: OptionForm = {
  expected: 'seconds, 0 or more',
  fits: (value) => Number.isFinite(value) && (value as number) >= 0,
};
const QUEUE_NAME: OptionForm = {
  expected: 'a letter or _, then letters, digits, _ or -, at most 64 characters',
  fits: (value) => typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(value),
};
const WHEN: OptionForm = {
  expected: 'arguments with their values, e.g. { deep: true }',
  fits: (value) => isObject(value) && Object.keys(value).length > 0,
};
const PER: OptionForm = {
  keys: { argument: 'string', of: { words: ['value', 'file_bytes'] }, seconds: SECONDS_FROM_0 },
  needed: ['seconds'],
};

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
  timeoutSeconds: seconds(),
  deadlineSeconds: seconds(),
  cleanupSeconds: seconds(),
  inputWaitSeconds: seconds(),
  estimate: {
    keys: {
      seconds: seconds(),
      per: PER,
      variants: {
        listOf: { keys: { when: WHEN, seconds: SECONDS_FROM_0, per: PER }, needed: ['when', 'seconds'] },
      },
    },
    needed: ['seconds'],
  },
  keepAliveSeconds: seconds(),
  cleanup: 'string',
  retryableErrors: { listOf: 'string' },
  example: { keys: { input: 'object', output: 'any' } },
  priority: whole(PRIORITIES.first, PRIORITIES.last),
  queue: {
    keys: {
      name: QUEUE_NAME,
      concurrency: whole(1, MAX_CONCURRENCY),
      perCaller: whole(1, MAX_CONCURRENCY),
      maxWaiting: whole(0, MAX_WAITING),
      waitSeconds: seconds(MAX_WAIT_SECONDS),
    },
    needed: ['concurrency'],
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

function problemsOf(path: string, value: unknown, form: OptionForm, isNeeded = false): string[] {
  if (form === 'any' || (value === undefined && !isNeeded)) return [];
  const expected = (what: string) => [`${path}: expected ${what}; got ${preview(value)}`];
  if (typeof form === 'string')
    return typeof value === form && value !== null ? [] : expected(FORM_NAMES[form]);
  if ('fits' in form) return form.fits(value) ? [] : expected(form.expected);
  if ('words' in form)
    return form.words.includes(value as string)
      ? []
      : expected(form.words.map((word) => JSON.stringify(word)).join(' or '));
  if ('listOf' in form)
    return Array.isArray(value)
      ? value.flatMap((item, index) => problemsOf(`${path}[${index}]`, item, form.listOf))
      : expected('a list');
  if (!isObject(value)) return expected('an object');
  const { keys, needed = [] } = form;
  const known = Object.keys(keys);
  const given = Object.keys(value);
  // A needed one that seems missing may be written differently.
  const missing = given.every((key) => known.includes(key)) ? needed : [];
  return [...new Set([...given, ...missing])].flatMap((key) => {
    const at = path ? `${path}.${key}` : key;
    return Object.hasOwn(keys, key)
      ? problemsOf(at, value[key], keys[key]!, needed.includes(key))
      : [`${at}: unknown option${didYouMean(key, known) || `; known are ${known.join(', ')}`}`];
  });
}

const FORM_NAMES = {
  string: 'text',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
} as const;

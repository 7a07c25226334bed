/** Types and values of settings. Configuration files give values, flags and variables give text. Loads nothing, to keep help fast. */
import { delimiter } from 'node:path';

export interface SettingType<T> {
  /** The value in help: `<number>`. */
  placeholder: string;
  /** JSON Schema of the value in a configuration file. */
  schema: Record<string, unknown>;
  /** @throws Expected for a value of another form */
  parse: (given: unknown) => T;
  /** Separates the values of a list in text. */
  separator?: string;
  /** Whether values are paths, to make absolute. */
  isPath?: true;
}

/** A value has the wrong form. The message says what was expected. */
export class Expected extends Error {
  override name = 'Expected';
}

const fail = (expected: string): never => {
  throw new Expected(`expected ${expected}`);
};

/** Text of at least one character. @param expected description of valid text, for errors */
export function text(
  placeholder: string,
  isValid: RegExp | ((value: string) => boolean) = /./s,
  expected = 'text',
): SettingType<string> {
  const matches = isValid instanceof RegExp ? (value: string) => isValid.test(value) : isValid;
  return {
    placeholder,
    schema: { type: 'string', minLength: 1 },
    parse: (given) => (typeof given === 'string' && given && matches(given) ? given : fail(expected)),
  };
}

export function path(placeholder: '<file>' | '<folder>'): SettingType<string> {
  return { ...text(placeholder, /./s, 'a path'), isPath: true };
}

export function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** An http or https URL, or the path of a file. */
export function urlOrPath(placeholder: string): SettingType<string> {
  return { ...text(placeholder), isPath: true };
}

export function number(
  least: number,
  most: number,
  type: 'number' | 'integer' = 'number',
): SettingType<number> {
  const what = type === 'integer' ? 'a whole number' : 'a number';
  return {
    placeholder: '<number>',
    schema: { type, minimum: least, maximum: most },
    parse(given) {
      const value = typeof given === 'string' && given.trim() ? Number(given) : given;
      const isWithin = typeof value === 'number' && value >= least && value <= most;
      const isValid = isWithin && (type === 'number' || Number.isInteger(value));
      return isValid ? value : fail(`${what} from ${least} to ${most}`);
    },
  };
}

export function integer(least: number, most: number): SettingType<number> {
  return number(least, most, 'integer');
}

const YES_AND_NO = new Map<unknown, boolean>([
  ...([true, 'true', '1'] as const).map((yes) => [yes, true] as const),
  ...([false, 'false', '0'] as const).map((no) => [no, false] as const),
]);

export const yesOrNo: SettingType<boolean> = {
  placeholder: '<true|false>',
  schema: { type: 'boolean' },
  parse: (given) => YES_AND_NO.get(given) ?? fail('true or false'),
};

export function oneOf<const T extends string>(...values: T[]): SettingType<T> {
  return {
    placeholder: `<${values.join('|')}>`,
    schema: { enum: values },
    parse: (given) => values.find((value) => value === given) ?? fail(`one of ${values.join(', ')}`),
  };
}

/** A list of values, separated in text. @param separator default: a comma */
export function list<T>(placeholder: string, item: SettingType<T>, separator = ','): SettingType<T[]> {
  return {
    placeholder,
    schema: { type: 'array', items: item.schema },
    separator,
    ...(item.isPath ? { isPath: true as const } : {}),
    parse(given) {
      const values: unknown = typeof given === 'string' ? given.split(separator).filter(Boolean) : given;
      return Array.isArray(values) ? values.map(item.parse) : fail('a list');
    },
  };
}

/** A list of paths or names, separated by the path separator. */
export function pathSeparated<T>(placeholder: string, item: SettingType<T>): SettingType<T[]> {
  return list(placeholder, item, delimiter);
}

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration with its unit, such as `5m`, parsed to milliseconds. Refuses a number without a unit. @param most longest one, as text */
export function duration(most: string): SettingType<number> {
  const msOf = (value: string) => {
    const [, amount, unit] = /^(\d+(?:\.\d+)?) ?(ms|s|m|h)$/.exec(value.trim()) ?? [];
    return amount === undefined ? NaN : Math.round(Number(amount) * UNITS_MS[unit!]!);
  };
  return {
    placeholder: '<time>',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)? ?(ms|s|m|h)$' },
    parse(given) {
      const ms = typeof given === 'string' ? msOf(given) : NaN;
      return ms <= msOf(most) ? ms : fail(`a time with its unit, such as 5m, 90s or 0s, up to ${most}`);
    },
  };
}

/** Values of `temporalUi` for the embedded Temporal's UI, and for no UI. */
export const EMBEDDED_UI = 'on';
export const NO_UI = 'off';

/** Whether a text is an http or https URL with only an origin and a path. */
export function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
/** Prefix without empty parts and without parts that name folders. */
const PREFIX = /^(?!\.{1,2}(\/|$))[^/]+(\/(?!\.{1,2}(\/|$))[^/]+)*\/?$/;

/** Bucket and prefix in the setting `storage`; undefined for a folder. The prefix is empty or ends with `/`. */
export function bucketIn(storage: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ''] = BUCKET.exec(storage) ?? [];
  if (bucket === undefined || (prefix !== '' && !PREFIX.test(prefix))) return undefined;
  return { bucket, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/` };
}

/** A worker's memory for each cached workflow, in MB, as measured in docs/performance.md. */
export const MB_PER_CACHED_WORKFLOW = 0.3;

const MOST_CACHED = 100_000;

/** A number of workflows, or the memory for them. */
export const cachedWorkflows: SettingType<number> = {
  placeholder: '<number|memory>',
  schema: { type: ['integer', 'string'], minimum: 2, maximum: MOST_CACHED },
  parse(given) {
    const [, amount, unit] =
      (typeof given === 'string' && /^(\d+(?:\.\d+)?) ?(MB|GB)$/i.exec(given.trim())) || [];
    const mb = Number(amount) * (unit?.toUpperCase() === 'GB' ? 1_000 : 1);
    // Rounded, so that 0.6 MB are two workflows in spite of binary fractions.
    const count =
      amount === undefined ? Number(given) : Math.floor(Number((mb / MB_PER_CACHED_WORKFLOW).toFixed(6)));
    if (Number.isInteger(count) && count >= 2 && count <= MOST_CACHED) return count;
    throw new Expected(
      `expected a number of workflows from 2 to ${MOST_CACHED}, or the memory for them, such as 200MB, at ${MB_PER_CACHED_WORKFLOW} MB each`,
    );
  },
};

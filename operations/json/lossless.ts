/** Finds what a value loses as JSON, the form in which Temporal and clients get it. For Temporal's sandbox too. */

/** Failure type of values that JSON can't hold. */
export const NOT_JSON = 'NotJson';

/** A lost value in words, and the cure. */
type Loss = readonly [found: string, cure: string];

interface Found {
  loss: Loss;
  path: string;
}

const BYTES = 'give text, e.g. base64, or an artifact';
/** Objects by their tag. JSON makes `{}` of them. */
const LOST_OBJECTS: Record<string, Loss> = {
  '[object Map]': ['a Map', 'give Object.fromEntries(map)'],
  '[object Set]': ['a Set', 'give [...set]'],
  '[object Promise]': ['a Promise', 'await it'],
  '[object Error]': ['an Error', 'give its message'],
  '[object RegExp]': ['a RegExp', 'give its source'],
};
const BOXED = /^\[object (Number|BigInt|String|Boolean)\]$/;

/**
 * The first value that JSON would change, drop or refuse. Undefined members are fine: JSON leaves them out, as the code expects.
 *
 * @param name of the value in messages, e.g. `result`
 * @returns path, what was expected, what came, and the cure; undefined if JSON holds all of it
 * @example result.rows[2].price: expected a value that JSON can hold; got NaN: give null, or a finite number
 */
export function lossIn(value: unknown, name: string): string | undefined {
  const found = findSafely(value);
  if (!found) return undefined;
  const [what, cure] = found.loss;
  return `${name}${found.path}: expected a value that JSON can hold; got ${what}: ${cure}`;
}

function findSafely(value: unknown): Found | undefined {
  try {
    return find(value, []);
  } catch (error) {
    // A getter or toJSON threw, or the value is nested too deeply.
    return { loss: [`an object that JSON can't read (${String(error)})`, 'give a plain object'], path: '' };
  }
}

/** @param around the objects that contain the value, outermost first */
function find(value: unknown, around: unknown[]): Found | undefined {
  const loss = ofScalar(value) ?? (isAny(value) ? ofObject(value, around) : undefined);
  if (loss) return { loss, path: '' };
  if (!isAny(value) && typeof value !== 'bigint') return undefined;
  around.push(value);
  const found = hasToJson(value)
    ? findInJson(value.toJSON(''), around)
    : findInMembers(value as object, around);
  around.pop();
  return found;
}

function findInJson(json: unknown, around: unknown[]): Found | undefined {
  if (json === undefined && around.length === 1)
    return { loss: ['nothing from its toJSON()', 'return a value there'], path: '' };
  return json === around.at(-1) ? findInMembers(json as object, around) : find(json, around);
}

/** Adds to the path only on the way back, since most values have no loss. */
function findInMembers(value: object, around: unknown[]): Found | undefined {
  for (const key of Object.keys(value)) {
    const found = find((value as Record<string, unknown>)[key], around);
    if (found) return { ...found, path: placeOf(key, Array.isArray(value)) + found.path };
  }
  return undefined;
}

function ofScalar(value: unknown): Loss | undefined {
  if (typeof value === 'function') return ['a function', 'leave it out'];
  if (typeof value === 'symbol') return [String(value), 'give text'];
  if (typeof value === 'number' && !Number.isFinite(value))
    return [String(value), 'give null, or a finite number'];
  if (typeof value === 'bigint' && !hasToJson(value))
    return [`the BigInt ${value}n`, 'give text, String(value)'];
  return undefined;
}

function ofObject(value: object, around: readonly unknown[]): Loss | undefined {
  if (around.includes(value)) return ['an object that contains itself', 'leave out the reference'];
  if (Array.isArray(value)) return undefined;
  if (ArrayBuffer.isView(value)) return [`bytes (${classOf(value)})`, BYTES];
  const tag = Object.prototype.toString.call(value);
  if (tag === '[object Date]' && Number.isNaN((value as Date).getTime()))
    return ['an invalid Date', 'give a valid one, or null'];
  if (hasToJson(value)) return undefined;
  if (BOXED.test(tag)) return ofScalar(value.valueOf());
  if (LOST_OBJECTS[tag]) return LOST_OBJECTS[tag];
  return isBare(value) || Object.keys(value).length > 0 ? undefined : ofInstance(value);
}

function ofInstance(value: object): Loss {
  return [
    `an instance of ${classOf(value)} without a field that JSON sees`,
    'give a plain object, or the class a toJSON()',
  ];
}

function isAny(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function hasToJson(value: unknown): value is { toJSON: (key: string) => unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

/** Whether an object has no class. Each realm has an `Object.prototype` of its own, and that has no prototype. */
function isBare(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf(value: object): string {
  return (value.constructor as { name?: string } | undefined)?.name || 'a class';
}

function placeOf(key: string, isItem: boolean): string {
  if (isItem) return `[${key}]`;
  return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

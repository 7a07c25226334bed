/** Values by kind, made where they are needed: JSON holds none of the lost ones. */
class Hidden {
  #cups = 3;
  cups() {
    return this.#cups;
  }
}

const circle: Record<string, unknown> = {};
circle['self'] = circle;

class Order {
  constructor(readonly cups: number) {}
  get isLarge() {
    return this.cups > 4;
  }
}

export const WHOLE: Record<string, () => unknown> = {
  nothing: () => undefined,
  null: () => null,
  zero: () => 0,
  false: () => false,
  'empty text': () => '',
  text: () => 'done',
  list: () => [1, 'two', { three: 3 }],
  object: () => ({ cups: 3, note: undefined }),
  date: () => ({ at: new Date(0) }),
  instance: () => new Order(3),
};

/** Kind -> the value, and the path and the word that its message has. */
export const LOST: Record<string, [make: () => unknown, path: string, word: string]> = {
  map: [() => new Map([['cups', 3]]), '', 'a Map'],
  set: [() => ({ rows: [{ tags: new Set(['a']) }] }), '.rows[0].tags', 'a Set'],
  big: [() => ({ n: 10n }), '.n', '10n'],
  'not a number': [() => ({ share: Number('x') }), '.share', 'NaN'],
  infinity: [() => [1, -1 / 0], '[1]', '-Infinity'],
  function: [() => ({ pour() {} }), '.pour', 'a function'],
  symbol: [() => ({ 'the cup': Symbol('cup') }), '["the cup"]', 'Symbol(cup)'],
  circular: [() => circle, '.self', 'contains itself'],
  promise: [() => ({ n: Promise.resolve(1) }), '.n', 'await it'],
  bytes: [() => ({ data: new Uint8Array([1, 2]) }), '.data', 'bytes'],
  error: [() => ({ error: new Error('no beans') }), '.error', 'an Error'],
  'invalid date': [() => ({ at: new Date(NaN) }), '.at', 'an invalid Date'],
  hidden: [() => new Hidden(), '', 'an instance of Hidden'],
};

export function make(kind: string): unknown {
  return (WHOLE[kind] ?? LOST[kind]![0])();
}
